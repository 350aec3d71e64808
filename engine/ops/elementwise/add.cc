// Add: a + b.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

Status add_gradient(GradientContext& c) {
  for (size_t i = 0; i < 2; ++i)
    if (c.wants(i)) c.set(i, c.sum_to(c.dy(), c.input(i)));
  return {};
}

}  // namespace

OpDef define_add() {
  OpDef op = arithmetic<kernels::BinaryOp::kAdd, kNumericTypes>("Add", true);
  op.samples += "(int64[2, 9] -9 to 9, int64[9] -9 to 9)";
  op.gradient = add_gradient;
  return op;
}

}  // namespace svengine::ops
