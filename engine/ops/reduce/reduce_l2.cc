// ReduceL2: the square root of the sum of squares over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_l2() { return reduction<kernels::ReduceOp::kL2>("ReduceL2"); }

}  // namespace svengine::ops
