// Celu: x above 0 ? x : alpha (e^(x / alpha) - 1).
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status celu_gradient(GradientContext& c) {
  // Below 0, where y = alpha (e^(x / alpha) - 1), the slope is y / alpha + 1.
  Value *x = c.input(0), *one = c.scalar(1, x);
  Value* below = c.op("Add", {c.op("Mul", {c.output(), c.scalar(1.0 / c.attributes().get_float("alpha", 1.0f), x)}), one});
  c.set(0, c.op("Mul", {c.dy(), c.op("Where", {c.op("Greater", {x, c.scalar(0, x)}), one, below})}));
  return {};
}

}  // namespace

OpDef define_celu() {
  OpDef op = unary_with<kernels::UnaryOp::kCelu>("Celu", "X", true, {{"alpha", AttributeKind::kFloat, false, 1.0f}});
  op.since = 12;
  op.samples += "(float32[3, 19] -6 to 6) {alpha = 0.75}";
  op.gradient = celu_gradient;
  return op;
}

}  // namespace svengine::ops
