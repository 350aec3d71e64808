// Sub: a - b.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

Status sub_gradient(GradientContext& c) {
  if (c.wants(0)) c.set(0, c.sum_to(c.dy(), c.input(0)));
  if (c.wants(1)) c.set(1, c.op("Neg", {c.sum_to(c.dy(), c.input(1))}));
  return {};
}

}  // namespace

OpDef define_sub() {
  OpDef op = arithmetic<kernels::BinaryOp::kSub, kNumericTypes>("Sub", true);
  op.samples += "(int64[2, 9] -9 to 9, int64[9] -9 to 9)";
  op.gradient = sub_gradient;
  return op;
}

}  // namespace svengine::ops
