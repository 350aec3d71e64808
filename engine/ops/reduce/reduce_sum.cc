// ReduceSum: the sum over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_sum() { return reduction<kernels::ReduceOp::kSum>("ReduceSum"); }

}  // namespace svengine::ops
