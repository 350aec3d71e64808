// Mul: a b.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

Status mul_gradient(GradientContext& c) {
  for (size_t i = 0; i < 2; ++i)
    if (c.wants(i)) c.set(i, c.sum_to(c.op("Mul", {c.dy(), c.input(1 - i)}), c.input(i)));
  return {};
}

}  // namespace

OpDef define_mul() {
  OpDef op = arithmetic<kernels::BinaryOp::kMul, kNumericTypes>("Mul", true);
  op.samples += "(int64[2, 9] -9 to 9, int64[9] -9 to 9)";
  op.gradient = mul_gradient;
  return op;
}

}  // namespace svengine::ops
