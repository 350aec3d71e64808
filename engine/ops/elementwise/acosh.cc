// Acosh: inverse hyperbolic cosine; NaN below 1.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status acosh_gradient(GradientContext& c) {
  Value *x = c.input(0), *one = c.scalar(1, x);
  c.set(0, c.op("Div", {c.dy(), c.op("Sqrt", {c.op("Sub", {c.op("Mul", {x, x}), one})})}));
  return {};
}

}  // namespace

OpDef define_acosh() {
  OpDef op = plain_unary<kernels::UnaryOp::kAcosh>("Acosh", "input", false);
  op.since = 9;
  op.samples = "(float32[2, 3, 5, 7] 1 to 20)"
               "(float32[1003] 1 to 20)";
  op.gradient = acosh_gradient;
  return op;
}

}  // namespace svengine::ops
