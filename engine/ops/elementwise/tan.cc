// Tan: tangent.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status tan_gradient(GradientContext& c) {
  Value* y = c.output();
  c.set(0, c.op("Mul", {c.dy(), c.op("Add", {c.op("Mul", {y, y}), c.scalar(1, y)})}));
  return {};
}

}  // namespace

OpDef define_tan() {
  OpDef op = plain_unary<kernels::UnaryOp::kTan>("Tan", "input", false);
  op.since = 7;
  op.samples = "(float32[2, 3, 5, 7] -1.5 to 1.5)"
               "(float32[1003] -1.5 to 1.5)";
  op.gradient = tan_gradient;
  return op;
}

}  // namespace svengine::ops
