// Ceil: the smallest whole number that is not below x.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_ceil() {
  OpDef op = plain_unary<kernels::UnaryOp::kCeil>("Ceil", "X", true);
  op.gradient = zero_gradient;
  return op;
}

}  // namespace svengine::ops
