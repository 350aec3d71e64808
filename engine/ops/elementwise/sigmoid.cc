// Sigmoid: 1 / (1 + e^-x).
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/fused_activation.h"

namespace svengine::ops {
namespace {

Status sigmoid_gradient(GradientContext& c) {
  return set_activation_gradient(c, "sigmoid", c.output());
}

}  // namespace

OpDef define_sigmoid() {
  OpDef op = plain_unary<kernels::UnaryOp::kSigmoid>("Sigmoid", "X", true);
  op.traits.activation = activation_of_node;
  op.gradient = sigmoid_gradient;
  return op;
}

}  // namespace svengine::ops
