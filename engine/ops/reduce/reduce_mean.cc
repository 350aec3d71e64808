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
  op.types = {{"T", kWideTypes, {0}}, {"axes", DTypeSet{DType::i64}, {1}}};
  return op;
}

}  // namespace svengine::ops
