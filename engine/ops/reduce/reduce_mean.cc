// ReduceMean: the mean over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_mean() { return reduction<kernels::ReduceOp::kMean>("ReduceMean"); }

}  // namespace svengine::ops
