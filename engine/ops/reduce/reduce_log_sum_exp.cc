// ReduceLogSumExp: log(sum(exp(x))), safe against overflow over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {
namespace {

Status reduce_log_sum_exp_gradient(GradientContext& c) {
  Value* weight = c.op("Exp", {c.op("Sub", {c.input(0), kept_dims(c, c.output())})});
  c.set(0, c.op("Mul", {weight, kept_dims(c, c.dy())}));
  return {};
}

}  // namespace

OpDef define_reduce_log_sum_exp() {
  OpDef op = reduction<kernels::ReduceOp::kLogSumExp>("ReduceLogSumExp");
  op.gradient = reduce_log_sum_exp_gradient;
  // Integers until opset 13.
  op.types = {{"T", kWideTypes, {0}}, {"axes", DTypeSet{DType::i64}, {1}}};
  return op;
}

}  // namespace svengine::ops
