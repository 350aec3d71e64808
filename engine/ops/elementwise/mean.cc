// Mean: the inputs' sum divided by their number.
#include "engine/ops/element.h"
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

Status lower(LowerContext& c) {
  SV_TRY(emit_variadic(c, kernels::BinaryOp::kAdd));
  if (c.input_count() == 1) return {};
  const Operand out = result_of(c);
  const Tensor count = scalar_of(out.type, static_cast<double>(c.input_count()));
  const Operand divisor{c.table({count.raw(), count.byte_size()}), out.type, {}};
  return emit_binary(c, kernels::BinaryOp::kDiv, out, divisor, out);
}

}  // namespace

OpDef define_mean() { return variadic_op("Mean", infer_binary<kRealTypes, false>, lower); }

}  // namespace svengine::ops
