// Softmax along an axis.
#include "engine/ops/nn/softmax_common.h"

namespace svengine::ops {

OpDef define_softmax() {
  OpDef op = softmax_like("Softmax", [](LowerContext& c) { return lower_softmax(c, wide::SoftmaxKind::softmax, c.kernels().softmax->softmax); });
  op.gradient = [](GradientContext& c) { return set_softmax_gradient(c, false); };
  return op;
}

}  // namespace svengine::ops
