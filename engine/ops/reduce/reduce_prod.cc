// ReduceProd: the product over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_prod() { return reduction<kernels::ReduceOp::kProd>("ReduceProd"); }

}  // namespace svengine::ops
