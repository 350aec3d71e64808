// Log: the natural logarithm; NaN below 0.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_log() {
  OpDef op = plain_unary<kernels::UnaryOp::kLog>("Log", false);
  op.since = 6;
  op.samples = {{.inputs = {f32({2, 3, 5, 7}, 0.001, 100)}}, {.inputs = {f32({1003}, 0.001, 100)}}};
  return op;
}

}  // namespace svengine::ops
