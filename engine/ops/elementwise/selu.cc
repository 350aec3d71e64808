// Selu: gamma (x above 0 ? x : alpha (e^x - 1)).
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status selu_gradient(GradientContext& c) {
  // Below 0, where y = gamma alpha (e^x - 1), the slope is y + gamma alpha.
  Value *x = c.input(0), *y = c.output();
  const float gamma = c.attributes().get_float("gamma", 1.05070102214813232421875f),
              alpha = c.attributes().get_float("alpha", 1.67326319217681884765625f);
  Value* below = c.op("Add", {y, c.scalar(double(gamma) * alpha, x)});
  Value* slope = c.op("Where", {c.op("Greater", {x, c.scalar(0, x)}), c.scalar(gamma, x), below});
  c.set(0, c.op("Mul", {c.dy(), slope}));
  return {};
}

}  // namespace

OpDef define_selu() {
  OpDef op = unary_with<kernels::UnaryOp::kSelu>("Selu", "X", true,
                                               {{"alpha", AttributeKind::kFloat, false, 1.67326319217681884765625f},
                                               {"gamma", AttributeKind::kFloat, false, 1.05070102214813232421875f}});
  op.samples += "(float32[3, 19] -6 to 6) {alpha = 0.75, gamma = 1.5}";
  op.gradient = selu_gradient;
  return op;
}

}  // namespace svengine::ops
