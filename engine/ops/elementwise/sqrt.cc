// Sqrt: the square root; NaN below 0.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_sqrt() {
  OpDef op = plain_unary<kernels::UnaryOp::kSqrt>("Sqrt", false);
  op.since = 6;
  op.samples = {{.inputs = {f32({2, 3, 5, 7}, 0, 50)}}, {.inputs = {f32({1003}, 0, 50)}}};
  return op;
}

}  // namespace svengine::ops
