// Not: true where the input is false.
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

OpDef define_not() {
  OpDef op = plain_unary<kernels::UnaryOp::kNot, kBool>("Not", "X", false);
  op.samples = "(bool[3, 37] 0 to 2)";
  return op;
}

}  // namespace svengine::ops
