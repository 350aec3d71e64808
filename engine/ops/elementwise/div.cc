// Div: a / b; integers truncate.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

Status div_gradient(GradientContext& c) {
  Value* share = c.op("Div", {c.dy(), c.input(1)});
  if (c.wants(0)) c.set(0, c.sum_to(share, c.input(0)));
  if (c.wants(1)) c.set(1, c.op("Neg", {c.sum_to(c.op("Mul", {share, c.output()}), c.input(1))}));
  return {};
}

}  // namespace

OpDef define_div() {
  OpDef op = arithmetic<kernels::BinaryOp::kDiv, kNumericTypes>("Div", false);
  op.samples += "(int64[2, 9] -50 to 50, int64[9] 1 to 9)";
  op.gradient = div_gradient;
  return op;
}

}  // namespace svengine::ops
