// And: true where both inputs are.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {

OpDef define_and() {
  OpDef op = predicate<kernels::BinaryOp::kAnd, kBool>("And");
  op.samples = {{.inputs = {any(DType::boolean, {3, 37}, 0, 2), any(DType::boolean, {3, 37}, 0, 2)}},
                {.inputs = {any(DType::boolean, {3, 1, 5}, 0, 2), any(DType::boolean, {4, 1}, 0, 2)}}};
  return op;
}

}  // namespace svengine::ops
