// HardSwish: x min(max(x / 6 + 1/2, 0), 1).
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_hard_swish() {
  OpDef op = plain_unary<kernels::UnaryOp::kHardSwish, DTypeSet{DType::f32, DType::f16}>("HardSwish", true);
  op.since = 14;
  return op;
}

}  // namespace svengine::ops
