// HardSigmoid: min(max(alpha x + beta, 0), 1).
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/fused_activation.h"

namespace svengine::ops {
namespace {

Status hard_sigmoid_gradient(GradientContext& c) {
  return set_activation_gradient(c, "hard_sigmoid", c.output(), c.attributes().get_float("alpha", 0.2f));
}

}  // namespace

OpDef define_hard_sigmoid() {
  OpDef op = unary_with<kernels::UnaryOp::kHardSigmoid>("HardSigmoid", "X", true,
                                               {{"alpha", AttributeKind::kFloat, false, 0.2f},
                                               {"beta", AttributeKind::kFloat, false, 0.5f}});
  op.samples += "(float32[3, 19] -6 to 6) {alpha = 0.75, beta = 0.25}";
  op.traits.activation = activation_of_node;
  op.gradient = hard_sigmoid_gradient;
  return op;
}

}  // namespace svengine::ops
