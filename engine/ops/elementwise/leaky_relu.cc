// LeakyRelu: x below 0 ? alpha x : x.
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/fused_activation.h"

namespace svengine::ops {
namespace {

Status leaky_relu_gradient(GradientContext& c) {
  return set_activation_gradient(c, "leaky_relu", c.input(0), c.attributes().get_float("alpha", 0.01f));
}

}  // namespace

OpDef define_leaky_relu() {
  OpDef op = unary_with<kernels::UnaryOp::kLeakyRelu>("LeakyRelu", "X", true,
                                               {{"alpha", AttributeKind::kFloat, false, 0.01f}});
  op.samples += "(float32[3, 19] -6 to 6) {alpha = 0.75}";
  op.traits.activation = activation_of_node;
  op.gradient = leaky_relu_gradient;
  return op;
}

}  // namespace svengine::ops
