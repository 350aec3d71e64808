// Acos: arc cosine; NaN outside [-1, 1].
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status acos_gradient(GradientContext& c) {
  Value *x = c.input(0), *one = c.scalar(1, x);
  c.set(0, c.op("Neg", {c.op("Div", {c.dy(), c.op("Sqrt", {c.op("Sub", {one, c.op("Mul", {x, x})})})})}));
  return {};
}

}  // namespace

OpDef define_acos() {
  OpDef op = plain_unary<kernels::UnaryOp::kAcos>("Acos", "input", false);
  op.since = 7;
  op.samples = "(float32[2, 3, 5, 7] -1 to 1)"
               "(float32[1003] -1 to 1)";
  op.gradient = acos_gradient;
  return op;
}

}  // namespace svengine::ops
