// Asinh: inverse hyperbolic sine.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_asinh() {
  OpDef op = plain_unary<kernels::UnaryOp::kAsinh>("Asinh", true);
  op.since = 9;
  return op;
}

}  // namespace svengine::ops
