// Sin: sine.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_sin() {
  OpDef op = plain_unary<kernels::UnaryOp::kSin>("Sin", true);
  op.since = 7;
  return op;
}

}  // namespace svengine::ops
