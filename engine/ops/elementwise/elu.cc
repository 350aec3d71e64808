// Elu: x above 0 ? x : alpha (e^x - 1).
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status elu_gradient(GradientContext& c) {
  return set_activation_gradient(c, "elu", c.input(0), c.attributes().get_float("alpha", 1.0f));
}

}  // namespace

OpDef define_elu() {
  OpDef op = unary_with<kernels::UnaryOp::kElu>("Elu", "X", true, {{"alpha", AttributeKind::kFloat, false, 1.0f}});
  op.samples += "(float32[3, 19] -6 to 6) {alpha = 0.75}";
  op.gradient = elu_gradient;
  return op;
}

}  // namespace svengine::ops
