// Acosh: inverse hyperbolic cosine; NaN below 1.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_acosh() {
  OpDef op = plain_unary<kernels::UnaryOp::kAcosh>("Acosh", false);
  op.since = 9;
  op.samples = {{.inputs = {f32({2, 3, 5, 7}, 1, 20)}}, {.inputs = {f32({1003}, 1, 20)}}};
  return op;
}

}  // namespace svengine::ops
