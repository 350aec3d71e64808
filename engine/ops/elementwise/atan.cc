// Atan: arc tangent.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_atan() {
  OpDef op = plain_unary<kernels::UnaryOp::kAtan>("Atan", true);
  op.since = 7;
  return op;
}

}  // namespace svengine::ops
