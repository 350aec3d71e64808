// LogSoftmax: the logarithm of softmax along an axis, computed without overflow.
#include "engine/ops/nn/softmax_common.h"

namespace svengine::ops {

OpDef define_log_softmax() {
  OpDef op = softmax_like("LogSoftmax",
                          [](LowerContext& c) { return lower_softmax(c, wide::SoftmaxKind::log_softmax, c.kernels().softmax->log_softmax); });
  op.gradient = [](GradientContext& c) { return set_softmax_gradient(c, true); };
  return op;
}

}  // namespace svengine::ops
