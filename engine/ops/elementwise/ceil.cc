// Ceil: the smallest whole number that is not below x.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_ceil() {
  OpDef op = plain_unary<kernels::UnaryOp::kCeil>("Ceil", true);
  op.since = 6;
  return op;
}

}  // namespace svengine::ops
