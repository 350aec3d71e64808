// Relu: max(x, 0).
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/fused_activation.h"

namespace svengine::ops {
namespace {

Status relu_gradient(GradientContext& c) {
  return set_activation_gradient(c, "relu", c.output());
}

}  // namespace

OpDef define_relu() {
  OpDef op = plain_unary<kernels::UnaryOp::kRelu, kRealTypes | kSignedTypes>("Relu", "X", true);
  op.samples += "(int64[2, 9] -5 to 5)";
  op.traits.activation = activation_of_node;
  op.gradient = relu_gradient;
  return op;
}

}  // namespace svengine::ops
