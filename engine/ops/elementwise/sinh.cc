// Sinh: hyperbolic sine.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status sinh_gradient(GradientContext& c) {
  c.set(0, c.op("Mul", {c.dy(), c.op("Cosh", {c.input(0)})}));
  return {};
}

}  // namespace

OpDef define_sinh() {
  OpDef op = plain_unary<kernels::UnaryOp::kSinh>("Sinh", "input", false);
  op.since = 9;
  op.samples = "(float32[2, 3, 5, 7] -5 to 5)"
               "(float32[1003] -5 to 5)";
  op.gradient = sinh_gradient;
  return op;
}

}  // namespace svengine::ops
