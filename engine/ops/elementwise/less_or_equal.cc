// LessOrEqual: true where a is below b or equal.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {

OpDef define_less_or_equal() {
  OpDef op = predicate<kernels::BinaryOp::kLessOrEqual, kNumericTypes>("LessOrEqual");
  op.since = 12;
  op.samples += "(int64[4, 19] -2 to 3, int64[19] -2 to 3)";
  return op;
}

}  // namespace svengine::ops
