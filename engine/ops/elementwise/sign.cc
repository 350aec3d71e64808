// Sign: -1, 0 or 1.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_sign() {
  OpDef op = plain_unary<kernels::UnaryOp::kSign, kNumericTypes>("Sign", "input", true);
  op.since = 9;
  op.samples += "(int64[2, 9] -5 to 5)";
  op.gradient = zero_gradient;
  return op;
}

}  // namespace svengine::ops
