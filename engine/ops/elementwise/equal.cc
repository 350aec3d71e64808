// Equal: true where a = b.
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/evaluate_strings.h"

namespace svengine::ops {

OpDef define_equal() {
  OpDef op = predicate<kernels::BinaryOp::kEqual, kNumericTypes | kBool | DTypeSet{DType::string}>("Equal");
  op.evaluate = evaluate_strings;
  op.samples += "(int64[4, 19] -2 to 3, int64[19] -2 to 3)";
  return op;
}

}  // namespace svengine::ops
