// Sigmoid: 1 / (1 + e^-x).
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/fused_activation.h"

namespace svengine::ops {

OpDef define_sigmoid() {
  OpDef op = plain_unary<kernels::UnaryOp::kSigmoid>("Sigmoid", true);
  op.since = 6;
  op.activation = activation_of_node;
  return op;
}

}  // namespace svengine::ops
