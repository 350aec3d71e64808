// Softmax along an axis.
#include "engine/ops/nn/softmax_common.h"

namespace svengine::ops {

OpDef define_softmax() {
  return softmax_like("Softmax", [](LowerContext& c) { return lower_softmax(c, "softmax", c.kernels().softmax->softmax); });
}

}  // namespace svengine::ops
