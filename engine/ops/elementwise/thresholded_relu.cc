// ThresholdedRelu: x above alpha ? x : 0.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_thresholded_relu() {
  OpDef op = unary_with<kernels::UnaryOp::kThresholdedRelu>("ThresholdedRelu", true,
                                               {{"alpha", AttributeKind::real, false, real(1.0f)}});
  op.since = 10;
  op.samples.push_back({.inputs = {f32({3, 19}, -6, 6)}, .attributes = {{"alpha", real(0.75f)}}});
  return op;
}

}  // namespace svengine::ops
