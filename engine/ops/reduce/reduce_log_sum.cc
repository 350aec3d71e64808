// ReduceLogSum: the logarithm of the sum over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {
namespace {

Status reduce_log_sum_gradient(GradientContext& c) {
  // d log(s) = ds / s, s = exp(y).
  c.set(0, c.expand_to(kept_dims(c, c.op("Div", {c.dy(), c.op("Exp", {c.output()})})), c.input(0)));
  return {};
}

}  // namespace

OpDef define_reduce_log_sum() {
  OpDef op = reduction<kernels::ReduceOp::kLogSum>("ReduceLogSum");
  op.gradient = reduce_log_sum_gradient;
  // Integers until opset 13.
  op.types = {{"T", kWideTypes, {0}}, {"axes", DTypeSet{DType::i64}, {1}}};
  return op;
}

}  // namespace svengine::ops
