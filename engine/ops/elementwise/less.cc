// Less: true where a is below b.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {

OpDef define_less() {
  OpDef op = predicate<kernels::BinaryOp::kLess, kNumericTypes>("Less");
  op.samples += "(int64[4, 19] -2 to 3, int64[19] -2 to 3)";
  return op;
}

}  // namespace svengine::ops
