// LessOrEqual: true where a is below b or equal.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {

OpDef define_less_or_equal() {
  OpDef op = predicate<kernels::BinaryOp::kLessOrEqual, kNumericTypes>("LessOrEqual");
  op.since = 12;
  op.samples.push_back({.inputs = {any(DType::i64, {4, 19}, -2, 3), any(DType::i64, {19}, -2, 3)}});
  return op;
}

}  // namespace svengine::ops
