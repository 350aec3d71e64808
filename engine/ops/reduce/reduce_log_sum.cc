// ReduceLogSum: the logarithm of the sum over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_log_sum() { return reduction<kernels::ReduceOp::kLogSum>("ReduceLogSum"); }

}  // namespace svengine::ops
