// ReduceSumSquare: the sum of squares over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {
namespace {

Status reduce_sum_square_gradient(GradientContext& c) {
  Value* x = c.input(0);
  c.set(0, c.op("Mul", {c.op("Add", {x, x}), kept_dims(c, c.dy())}));
  return {};
}

}  // namespace

OpDef define_reduce_sum_square() {
  OpDef op = reduction<kernels::ReduceOp::kSumSquare>("ReduceSumSquare");
  op.gradient = reduce_sum_square_gradient;
  op.types = {{"T", kWideTypes, {0}}, {"axes", DTypeSet{DType::i64}, {1}}};
  return op;
}

}  // namespace svengine::ops
