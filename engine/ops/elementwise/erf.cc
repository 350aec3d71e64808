// Erf: the error function, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_erf() {
  OpDef op = plain_unary<kernels::UnaryOp::kErf>("Erf", true);
  op.since = 9;
  return op;
}

}  // namespace svengine::ops
