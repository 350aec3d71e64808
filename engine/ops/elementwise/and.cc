// And: true where both inputs are.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {

OpDef define_and() {
  OpDef op = predicate<kernels::BinaryOp::kAnd, kBool>("And");
  op.samples = "(bool[3, 37] 0 to 2, bool[3, 37] 0 to 2)"
               "(bool[3, 1, 5] 0 to 2, bool[4, 1] 0 to 2)";
  return op;
}

}  // namespace svengine::ops
