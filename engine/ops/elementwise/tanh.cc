// Tanh: hyperbolic tangent.
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/fused_activation.h"

namespace svengine::ops {

OpDef define_tanh() {
  OpDef op = plain_unary<kernels::UnaryOp::kTanh>("Tanh", true);
  op.since = 6;
  op.activation = activation_of_node;
  return op;
}

}  // namespace svengine::ops
