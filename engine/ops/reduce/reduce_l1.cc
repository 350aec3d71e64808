// ReduceL1: the sum of magnitudes over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_l1() { return reduction<kernels::ReduceOp::kL1>("ReduceL1"); }

}  // namespace svengine::ops
