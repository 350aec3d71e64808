// ReduceMin: the smallest element; NaN if there is one over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_min() {
  OpDef op = reduction<kernels::ReduceOp::kMin>("ReduceMin");
  op.gradient = reduced_extremum_gradient;
  op.types = {{"T", kWideTypes | kBytes | kBool, {0}}, {"axes", DTypeSet{DType::i64}, {1}}};
  return op;
}

}  // namespace svengine::ops
