// Sqrt: the square root; NaN below 0.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status sqrt_gradient(GradientContext& c) {
  c.set(0, c.op("Div", {c.dy(), c.op("Add", {c.output(), c.output()})}));
  return {};
}

}  // namespace

OpDef define_sqrt() {
  OpDef op = plain_unary<kernels::UnaryOp::kSqrt>("Sqrt", "X", false);
  op.samples = "(float32[2, 3, 5, 7] 0 to 50)"
               "(float32[1003] 0 to 50)";
  op.gradient = sqrt_gradient;
  return op;
}

}  // namespace svengine::ops
