// Cosh: hyperbolic cosine.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status cosh_gradient(GradientContext& c) {
  c.set(0, c.op("Mul", {c.dy(), c.op("Sinh", {c.input(0)})}));
  return {};
}

}  // namespace

OpDef define_cosh() {
  OpDef op = plain_unary<kernels::UnaryOp::kCosh>("Cosh", "input", false);
  op.since = 9;
  op.samples = "(float32[2, 3, 5, 7] -5 to 5)"
               "(float32[1003] -5 to 5)";
  op.gradient = cosh_gradient;
  return op;
}

}  // namespace svengine::ops
