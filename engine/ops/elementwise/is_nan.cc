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
  OpDef op = unary_op("IsNaN", "X", infer_is_nan, lower_unary<kernels::UnaryOp::kIsNaN>, false);
  op.since = 9;
  op.traits.may_overwrite = false;
  op.samples = "(float32[3, 21])"
               "(float32[4]{nan, inf, -inf, 0.0})";
  op.types = {{"T1", kRealTypes | kFloat8Types, {0}}};
  return op;
}

}  // namespace svengine::ops
