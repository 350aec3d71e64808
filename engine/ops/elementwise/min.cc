// Min: the smallest of the inputs; NaN if one is.
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/elementwise/gradient_common.h"

namespace svengine::ops {

OpDef define_min() {
  OpDef op = variadic_op("Min", infer_binary<kNumericTypes, false>, lower_variadic<kernels::BinaryOp::kMin>);
  op.samples += "(int64[2, 9] -9 to 9, int64[9] -9 to 9)";
  op.gradient = extremum_gradient;
  op.types = {{"T", kNumericTypes, {0}}};
  return op;
}

}  // namespace svengine::ops
