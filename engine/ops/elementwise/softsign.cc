// Softsign: x / (1 + |x|).
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_softsign() {
  OpDef op = plain_unary<kernels::UnaryOp::kSoftsign, DTypeSet{DType::f32, DType::f16}>("Softsign", true);
  return op;
}

}  // namespace svengine::ops
