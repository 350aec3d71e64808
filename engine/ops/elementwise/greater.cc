// Greater: true where a is above b.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {

OpDef define_greater() {
  OpDef op = predicate<kernels::BinaryOp::kGreater, kNumericTypes>("Greater");
  op.samples += "(int64[4, 19] -2 to 3, int64[19] -2 to 3)";
  return op;
}

}  // namespace svengine::ops
