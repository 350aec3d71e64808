// Or: true where one input is, or both are.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {

OpDef define_or() {
  OpDef op = predicate<kernels::BinaryOp::kOr, kBool>("Or");
  op.samples = "(bool[3, 37] 0 to 2, bool[3, 37] 0 to 2)"
               "(bool[3, 1, 5] 0 to 2, bool[4, 1] 0 to 2)";
  return op;
}

}  // namespace svengine::ops
