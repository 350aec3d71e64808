// Reciprocal: 1 / x.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status reciprocal_gradient(GradientContext& c) {
  c.set(0, c.op("Neg", {c.op("Mul", {c.dy(), c.op("Mul", {c.output(), c.output()})})}));
  return {};
}

}  // namespace

OpDef define_reciprocal() {
  OpDef op = plain_unary<kernels::UnaryOp::kReciprocal>("Reciprocal", "X", false);
  op.samples = "(float32[2, 3, 5, 7] 0.25 to 8)"
               "(float32[1003] 0.25 to 8)";
  op.gradient = reciprocal_gradient;
  return op;
}

}  // namespace svengine::ops
