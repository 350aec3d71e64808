// ReduceL1: the sum of magnitudes over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {
namespace {

Status reduce_l1_gradient(GradientContext& c) {
  c.set(0, c.op("Mul", {c.op("Sign", {c.input(0)}), kept_dims(c, c.dy())}));
  return {};
}

}  // namespace

OpDef define_reduce_l1() {
  OpDef op = reduction<kernels::ReduceOp::kL1>("ReduceL1");
  op.gradient = reduce_l1_gradient;
  op.types = {{"T", kWideTypes, {0}}, {"axes", DTypeSet{DType::i64}, {1}}};
  return op;
}

}  // namespace svengine::ops
