// ReduceMin: the smallest element; NaN if there is one over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_min() { return reduction<kernels::ReduceOp::kMin, kReducedTypes | kBool>("ReduceMin"); }

}  // namespace svengine::ops
