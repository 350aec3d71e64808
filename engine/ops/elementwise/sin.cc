// Sin: sine.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status sin_gradient(GradientContext& c) {
  c.set(0, c.op("Mul", {c.dy(), c.op("Cos", {c.input(0)})}));
  return {};
}

}  // namespace

OpDef define_sin() {
  OpDef op = plain_unary<kernels::UnaryOp::kSin>("Sin", "input", true);
  op.since = 7;
  op.gradient = sin_gradient;
  return op;
}

}  // namespace svengine::ops
