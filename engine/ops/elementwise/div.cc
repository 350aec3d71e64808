// Div: a / b; integers truncate.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {

OpDef define_div() {
  OpDef op = arithmetic<kernels::BinaryOp::kDiv, kNumericTypes>("Div", false);
  op.samples.push_back({.inputs = {any(DType::i64, {2, 9}, -50, 50), any(DType::i64, {9}, 1, 9)}});
  return op;
}

}  // namespace svengine::ops
