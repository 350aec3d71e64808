// ReduceMax: the largest element; NaN if there is one over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_max() {
  OpDef op = reduction<kernels::ReduceOp::kMax>("ReduceMax");
  op.samples += "(uint64[4, 9] 0 to 9, int64[1]{0})";
  op.samples += "(bool[4, 9] 0 to 2, int64[1]{1})";
  op.samples += "(int8[4, 9] -9 to 9, int64[1]{1})";
  op.gradient = reduced_extremum_gradient;
  op.types = {{"T", kWideTypes | kBytes | kBool, {0}}, {"axes", DTypeSet{DType::i64}, {1}}};
  return op;
}

}  // namespace svengine::ops
