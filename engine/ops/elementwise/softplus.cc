// Softplus: log(1 + e^x).
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_softplus() {
  OpDef op = plain_unary<kernels::UnaryOp::kSoftplus>("Softplus", true);
  return op;
}

}  // namespace svengine::ops
