// Floor: the largest whole number that is not above x.
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_floor() {
  OpDef op = plain_unary<kernels::UnaryOp::kFloor>("Floor", "X", true);
  op.gradient = zero_gradient;
  return op;
}

}  // namespace svengine::ops
