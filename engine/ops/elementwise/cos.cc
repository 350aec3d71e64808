// Cos: cosine.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_cos() {
  OpDef op = plain_unary<kernels::UnaryOp::kCos>("Cos", true);
  op.since = 7;
  return op;
}

}  // namespace svengine::ops
