// ReduceSumSquare: the sum of squares over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_sum_square() { return reduction<kernels::ReduceOp::kSumSquare>("ReduceSumSquare"); }

}  // namespace svengine::ops
