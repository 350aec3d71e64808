// Exp: e^x.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_exp() {
  OpDef op = plain_unary<kernels::UnaryOp::kExp>("Exp", false);
  op.since = 6;
  return op;
}

}  // namespace svengine::ops
