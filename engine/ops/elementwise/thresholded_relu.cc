// ThresholdedRelu: x above alpha ? x : 0.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status thresholded_relu_gradient(GradientContext& c) {
  Value* x = c.input(0);
  Value* above = c.op("Greater", {x, c.scalar(c.attributes().get_float("alpha", 1.0f), x)});
  c.set(0, c.op("Where", {above, c.dy(), c.scalar(0, x)}));
  return {};
}

}  // namespace

OpDef define_thresholded_relu() {
  OpDef op = unary_with<kernels::UnaryOp::kThresholdedRelu>("ThresholdedRelu", "X", true,
                                               {{"alpha", AttributeKind::kFloat, false, 1.0f}});
  op.since = 10;
  op.samples += "(float32[3, 19] -6 to 6) {alpha = 0.75}";
  op.gradient = thresholded_relu_gradient;
  return op;
}

}  // namespace svengine::ops
