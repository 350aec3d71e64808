// Cos: cosine.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status cos_gradient(GradientContext& c) {
  c.set(0, c.op("Neg", {c.op("Mul", {c.dy(), c.op("Sin", {c.input(0)})})}));
  return {};
}

}  // namespace

OpDef define_cos() {
  OpDef op = plain_unary<kernels::UnaryOp::kCos>("Cos", "input", true);
  op.since = 7;
  op.gradient = cos_gradient;
  return op;
}

}  // namespace svengine::ops
