// Xor: true where exactly one input is.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {

OpDef define_xor() {
  OpDef op = predicate<kernels::BinaryOp::kXor, kBool>("Xor");
  op.samples = "(bool[3, 37] 0 to 2, bool[3, 37] 0 to 2)"
               "(bool[3, 1, 5] 0 to 2, bool[4, 1] 0 to 2)";
  return op;
}

}  // namespace svengine::ops
