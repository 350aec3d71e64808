// Exp: e^x.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status exp_gradient(GradientContext& c) {
  c.set(0, c.op("Mul", {c.dy(), c.output()}));
  return {};
}

}  // namespace

OpDef define_exp() {
  OpDef op = plain_unary<kernels::UnaryOp::kExp>("Exp", "input", false);
  op.gradient = exp_gradient;
  return op;
}

}  // namespace svengine::ops
