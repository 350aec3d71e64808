// Tanh: hyperbolic tangent.
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/fused_activation.h"

namespace svengine::ops {
namespace {

Status tanh_gradient(GradientContext& c) {
  return set_activation_gradient(c, "tanh", c.output());
}

}  // namespace

OpDef define_tanh() {
  OpDef op = plain_unary<kernels::UnaryOp::kTanh>("Tanh", "input", true);
  op.traits.activation = activation_of_node;
  op.gradient = tanh_gradient;
  return op;
}

}  // namespace svengine::ops
