// Hardmax: 1 at the first maximum along an axis, 0 elsewhere.
#include "engine/ops/nn/softmax_common.h"

namespace svengine::ops {

OpDef define_hardmax() {
  return softmax_like("Hardmax", [](LowerContext& c) { return lower_softmax(c, wide::SoftmaxKind::hardmax, c.kernels().softmax->hardmax); });
}

}  // namespace svengine::ops
