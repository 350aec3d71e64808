// Add: a + b.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {

OpDef define_add() {
  OpDef op = arithmetic<kernels::BinaryOp::kAdd, kNumericTypes>("Add", true);
  op.samples.push_back({.inputs = {any(DType::i64, {2, 9}, -9, 9), any(DType::i64, {9}, -9, 9)}});
  return op;
}

}  // namespace svengine::ops
