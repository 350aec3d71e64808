// ReduceSum: the sum over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {
namespace {

Status reduce_sum_gradient(GradientContext& c) {
  c.set(0, c.expand_to(kept_dims(c, c.dy()), c.input(0)));
  return {};
}

}  // namespace

OpDef define_reduce_sum() {
  OpDef op = reduction<kernels::ReduceOp::kSum>("ReduceSum");
  op.gradient = reduce_sum_gradient;
  op.types = {{"T", kWideTypes, {0}}, {"axes", DTypeSet{DType::i64}, {1}}};
  return op;
}

}  // namespace svengine::ops
