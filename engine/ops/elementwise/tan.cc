// Tan: tangent.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_tan() {
  OpDef op = plain_unary<kernels::UnaryOp::kTan>("Tan", false);
  op.since = 7;
  op.samples = {{.inputs = {f32({2, 3, 5, 7}, -1.5, 1.5)}}, {.inputs = {f32({1003}, -1.5, 1.5)}}};
  return op;
}

}  // namespace svengine::ops
