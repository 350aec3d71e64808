// Atanh: inverse hyperbolic tangent; NaN outside [-1, 1].
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_atanh() {
  OpDef op = plain_unary<kernels::UnaryOp::kAtanh>("Atanh", false);
  op.since = 9;
  op.samples = {{.inputs = {f32({2, 3, 5, 7}, -0.99, 0.99)}}, {.inputs = {f32({1003}, -0.99, 0.99)}}};
  return op;
}

}  // namespace svengine::ops
