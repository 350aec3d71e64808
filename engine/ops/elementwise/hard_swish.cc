// HardSwish: x min(max(x / 6 + 1/2, 0), 1).
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/fused_activation.h"

namespace svengine::ops {
namespace {

Status hard_swish_gradient(GradientContext& c) {
  return set_activation_gradient(c, "hard_swish", c.input(0));
}

}  // namespace

OpDef define_hard_swish() {
  OpDef op = plain_unary<kernels::UnaryOp::kHardSwish, kRealTypes>("HardSwish", "X", true);
  op.since = 14;
  op.traits.activation = activation_of_node;
  op.gradient = hard_swish_gradient;
  return op;
}

}  // namespace svengine::ops
