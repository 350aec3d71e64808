// Reciprocal: 1 / x.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_reciprocal() {
  OpDef op = plain_unary<kernels::UnaryOp::kReciprocal>("Reciprocal", false);
  op.since = 6;
  op.samples = {{.inputs = {f32({2, 3, 5, 7}, 0.25, 8)}}, {.inputs = {f32({1003}, 0.25, 8)}}};
  return op;
}

}  // namespace svengine::ops
