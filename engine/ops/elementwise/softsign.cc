// Softsign: x / (1 + |x|).
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status softsign_gradient(GradientContext& c) {
  Value* x = c.input(0);
  Value* root = c.op("Add", {c.op("Abs", {x}), c.scalar(1, x)});
  c.set(0, c.op("Div", {c.dy(), c.op("Mul", {root, root})}));
  return {};
}

}  // namespace

OpDef define_softsign() {
  OpDef op = plain_unary<kernels::UnaryOp::kSoftsign, kRealTypes>("Softsign", "input", true);
  op.gradient = softsign_gradient;
  return op;
}

}  // namespace svengine::ops
