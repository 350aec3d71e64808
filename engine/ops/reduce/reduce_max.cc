// ReduceMax: the largest element; NaN if there is one over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_max() { return reduction<kernels::ReduceOp::kMax, kReducedTypes | kBool>("ReduceMax"); }

}  // namespace svengine::ops
