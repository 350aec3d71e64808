// Abs: |x|.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status abs_gradient(GradientContext& c) {
  c.set(0, c.op("Mul", {c.dy(), c.op("Sign", {c.input(0)})}));
  return {};
}

}  // namespace

OpDef define_abs() {
  OpDef op = plain_unary<kernels::UnaryOp::kAbs, kNumericTypes>("Abs", "X", true);
  op.samples += "(int64[2, 9] -5 to 5)";
  op.gradient = abs_gradient;
  return op;
}

}  // namespace svengine::ops
