// Atanh: inverse hyperbolic tangent; NaN outside [-1, 1].
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status atanh_gradient(GradientContext& c) {
  Value *x = c.input(0), *one = c.scalar(1, x);
  c.set(0, c.op("Div", {c.dy(), c.op("Sub", {one, c.op("Mul", {x, x})})}));
  return {};
}

}  // namespace

OpDef define_atanh() {
  OpDef op = plain_unary<kernels::UnaryOp::kAtanh>("Atanh", "input", false);
  op.since = 9;
  op.samples = "(float32[2, 3, 5, 7] -0.99 to 0.99)"
               "(float32[1003] -0.99 to 0.99)";
  op.gradient = atanh_gradient;
  return op;
}

}  // namespace svengine::ops
