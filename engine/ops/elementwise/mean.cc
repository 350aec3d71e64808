// Mean: the inputs' sum divided by their number.
#include "engine/graph/gradient.h"
#include "engine/ops/element.h"
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

Status lower_mean(LowerContext& c) {
  SV_TRY(emit_variadic(c, kernels::BinaryOp::kAdd));
  if (c.input_count() == 1) return {};
  const Operand out = result_of(c);
  const Tensor count = scalar_of(out.type, static_cast<double>(c.input_count()));
  const Operand divisor{c.table({count.raw(), count.byte_size()}), out.type, {}};
  return emit_binary(c, kernels::BinaryOp::kDiv, out, divisor, out);
}

Status mean_gradient(GradientContext& c) {
  const size_t count = c.node().inputs().size();
  Value* share = c.op("Mul", {c.dy(), c.scalar(1.0 / static_cast<double>(count), c.dy())});
  for (size_t i = 0; i < count; ++i)
    if (c.wants(i)) c.set(i, c.sum_to(share, c.input(i)));
  return {};
}

}  // namespace

OpDef define_mean() {
  OpDef op = variadic_op("Mean", infer_binary<kRealTypes, false>, lower_mean);
  op.gradient = mean_gradient;
  op.types = {{"T", kRealTypes, {0}}};
  return op;
}

}  // namespace svengine::ops
