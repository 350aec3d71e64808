// IsNaN: true where the input is not a number.
#include <limits>

#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status infer_is_nan(InferContext& c) {
  c.set(0, DType::boolean, c.shape(0));
  return {};
}

}  // namespace

OpDef define_is_nan() {
  OpDef op = unary_op("IsNaN", infer_is_nan, lower_unary<kernels::UnaryOp::kIsNaN>, false);
  op.since = 9;
  op.traits.may_overwrite = false;
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  op.samples = {{.inputs = {f32({3, 21})}}, {.inputs = {fixed(Tensor::of<float>({4}, {kNaN, kInfinity, -kInfinity, 0.0f}))}}};
  op.types = {{"T1", kRealTypes | kFloat8Types, {0}}};
  return op;
}

}  // namespace svengine::ops
