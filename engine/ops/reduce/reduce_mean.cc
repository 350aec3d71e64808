// ReduceMean: the mean over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {
namespace {

Status reduce_mean_gradient(GradientContext& c) {
  c.set(0, c.expand_to(kept_dims(c, c.dy()), c.input(0), true));
  return {};
}

}  // namespace

OpDef define_reduce_mean() {
  OpDef op = reduction<kernels::ReduceOp::kMean>("ReduceMean");
  op.gradient = reduce_mean_gradient;
  return op;
}

}  // namespace svengine::ops
