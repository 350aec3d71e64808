// Hardmax: 1 at the first maximum along an axis, 0 elsewhere.
#include "engine/graph/gradient.h"
#include "engine/ops/nn/softmax_common.h"

namespace svengine::ops {

OpDef define_hardmax() {
  OpDef op = softmax_like("Hardmax", [](LowerContext& c) { return lower_softmax(c, wide::SoftmaxKind::hardmax, c.kernels().softmax->hardmax); });
  op.gradient = zero_gradient;
  return op;
}

}  // namespace svengine::ops
