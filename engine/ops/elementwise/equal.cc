// Equal: true where a = b.
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/evaluate_strings.h"

namespace svengine::ops {

OpDef define_equal() {
  OpDef op = predicate<kernels::BinaryOp::kEqual, kNumericTypes | kBool | DTypeSet{DType::string}>("Equal");
  op.evaluate = evaluate_strings;
  op.samples.push_back({.inputs = {any(DType::i64, {4, 19}, -2, 3), any(DType::i64, {19}, -2, 3)}});
  return op;
}

}  // namespace svengine::ops
