// Tanh: hyperbolic tangent.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_tanh() {
  OpDef op = plain_unary<kernels::UnaryOp::kTanh>("Tanh", true);
  op.since = 6;
  return op;
}

}  // namespace svengine::ops
