// Acos: arc cosine; NaN outside [-1, 1].
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_acos() {
  OpDef op = plain_unary<kernels::UnaryOp::kAcos>("Acos", false);
  op.since = 7;
  op.samples = {{.inputs = {f32({2, 3, 5, 7}, -1, 1)}}, {.inputs = {f32({1003}, -1, 1)}}};
  return op;
}

}  // namespace svengine::ops
