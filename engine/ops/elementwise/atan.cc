// Atan: arc tangent.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status atan_gradient(GradientContext& c) {
  Value *x = c.input(0), *one = c.scalar(1, x);
  c.set(0, c.op("Div", {c.dy(), c.op("Add", {one, c.op("Mul", {x, x})})}));
  return {};
}

}  // namespace

OpDef define_atan() {
  OpDef op = plain_unary<kernels::UnaryOp::kAtan>("Atan", "input", true);
  op.since = 7;
  op.gradient = atan_gradient;
  return op;
}

}  // namespace svengine::ops
