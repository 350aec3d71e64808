// ReduceMax: the largest element; NaN if there is one over the given axes.
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {

OpDef define_reduce_max() {
  OpDef op = reduction<kernels::ReduceOp::kMax>("ReduceMax");
  op.samples.push_back({.inputs = {any(DType::u64, {4, 9}, 0, 9), ints({0})}});
  op.samples.push_back({.inputs = {any(DType::boolean, {4, 9}, 0, 2), ints({1})}});
  op.samples.push_back({.inputs = {any(DType::i8, {4, 9}, -9, 9), ints({1})}});
  op.gradient = reduced_extremum_gradient;
  op.types = {{"T", kWideTypes | kBytes | kBool, {0}}, {"axes", DTypeSet{DType::i64}, {1}}};
  return op;
}

}  // namespace svengine::ops
