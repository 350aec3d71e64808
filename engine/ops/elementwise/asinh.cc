// Asinh: inverse hyperbolic sine.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status asinh_gradient(GradientContext& c) {
  Value *x = c.input(0), *one = c.scalar(1, x);
  c.set(0, c.op("Div", {c.dy(), c.op("Sqrt", {c.op("Add", {c.op("Mul", {x, x}), one})})}));
  return {};
}

}  // namespace

OpDef define_asinh() {
  OpDef op = plain_unary<kernels::UnaryOp::kAsinh>("Asinh", "input", true);
  op.since = 9;
  op.gradient = asinh_gradient;
  return op;
}

}  // namespace svengine::ops
