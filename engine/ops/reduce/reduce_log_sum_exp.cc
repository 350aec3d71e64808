// ReduceLogSumExp: log(sum(exp(x))), safe against overflow over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_log_sum_exp() { return reduction<kernels::ReduceOp::kLogSumExp>("ReduceLogSumExp"); }

}  // namespace svengine::ops
