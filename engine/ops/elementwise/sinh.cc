// Sinh: hyperbolic sine.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_sinh() {
  OpDef op = plain_unary<kernels::UnaryOp::kSinh>("Sinh", false);
  op.since = 9;
  op.samples = {{.inputs = {f32({2, 3, 5, 7}, -5, 5)}}, {.inputs = {f32({1003}, -5, 5)}}};
  return op;
}

}  // namespace svengine::ops
