// Mish: x tanh(log(1 + e^x)).
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_mish() {
  OpDef op = plain_unary<kernels::UnaryOp::kMish, DTypeSet{DType::f32, DType::f16}>("Mish", true);
  op.since = 18;
  return op;
}

}  // namespace svengine::ops
