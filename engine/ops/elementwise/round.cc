// Round: the nearest whole number, ties to the even one.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_round() {
  OpDef op = plain_unary<kernels::UnaryOp::kRound>("Round", "X", true);
  op.since = 11;
  op.samples = "(float32[37] -20 to 20)"
               "(float32[6]{0.5, 1.5, 2.5, -0.5, -1.5, -2.5})";
  op.gradient = zero_gradient;
  return op;
}

}  // namespace svengine::ops
