// ReduceL2: the square root of the sum of squares over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {
namespace {

Status reduce_l2_gradient(GradientContext& c) {
  c.set(0, c.op("Mul", {c.input(0), kept_dims(c, c.op("Div", {c.dy(), c.output()}))}));
  return {};
}

}  // namespace

OpDef define_reduce_l2() {
  OpDef op = reduction<kernels::ReduceOp::kL2>("ReduceL2");
  op.gradient = reduce_l2_gradient;
  op.types = {{"T", kWideTypes, {0}}, {"axes", DTypeSet{DType::i64}, {1}}};
  return op;
}

}  // namespace svengine::ops
