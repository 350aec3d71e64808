// Or: true where one input is, or both are.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {

OpDef define_or() {
  OpDef op = predicate<kernels::BinaryOp::kOr, kBool>("Or");
  op.samples = {{.inputs = {any(DType::boolean, {3, 37}, 0, 2), any(DType::boolean, {3, 37}, 0, 2)}},
                {.inputs = {any(DType::boolean, {3, 1, 5}, 0, 2), any(DType::boolean, {4, 1}, 0, 2)}}};
  return op;
}

}  // namespace svengine::ops
