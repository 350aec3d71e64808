// ReduceMax: the largest element; NaN if there is one over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_max() {
  OpDef op = reduction<kernels::ReduceOp::kMax, kReducedTypes | kBool>("ReduceMax");
  op.gradient = reduced_extremum_gradient;
  return op;
}

}  // namespace svengine::ops
