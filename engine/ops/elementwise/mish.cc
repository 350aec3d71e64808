// Mish: x tanh(log(1 + e^x)).
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status mish_gradient(GradientContext& c) {
  // With t = tanh(log(1 + e^x)): t + x (1 - t^2) sigmoid(x).
  Value *x = c.input(0), *t = c.op("Tanh", {c.op("Softplus", {x})});
  Value* rest = c.op("Sub", {c.scalar(1, x), c.op("Mul", {t, t})});
  Value* slope = c.op("Add", {t, c.op("Mul", {c.op("Mul", {x, c.op("Sigmoid", {x})}), rest})});
  c.set(0, c.op("Mul", {c.dy(), slope}));
  return {};
}

}  // namespace

OpDef define_mish() {
  OpDef op = plain_unary<kernels::UnaryOp::kMish, kRealTypes>("Mish", "X", true);
  op.since = 18;
  op.gradient = mish_gradient;
  return op;
}

}  // namespace svengine::ops
