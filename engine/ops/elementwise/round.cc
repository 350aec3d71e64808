// Round: the nearest whole number, ties to the even one.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_round() {
  OpDef op = plain_unary<kernels::UnaryOp::kRound>("Round", true);
  op.since = 11;
  op.samples = {{.inputs = {f32({37}, -20, 20)}}, {.inputs = {fixed(Tensor::of<float>({6}, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f}))}}};
  op.gradient = zero_gradient;
  return op;
}

}  // namespace svengine::ops
