// IsInf: true where the input is infinite, of either sign or of one.
#include <limits>

#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status infer_is_inf(InferContext& c) {
  c.set(0, DType::boolean, c.shape(0));
  return {};
}

Status lower_is_inf(LowerContext& c) {
  emit_unary(c, "is_inf", {.op = kernels::UnaryOp::kIsInf,
                           .detect_negative = c.attributes().get_int("detect_negative", 1) != 0,
                           .detect_positive = c.attributes().get_int("detect_positive", 1) != 0});
  return {};
}

}  // namespace

OpDef define_is_inf() {
  OpDef op = unary_op("IsInf", "X", infer_is_inf, lower_is_inf, false);
  op.since = 10;
  op.traits.may_overwrite = false;
  op.attributes = {{"detect_negative", AttributeKind::kInt, false, 1},
                   {"detect_positive", AttributeKind::kInt, false, 1}};
  op.samples = "(float32[4]{nan, inf, -inf, 0.0})"
               "(float32[4]{nan, inf, -inf, 0.0}) {detect_negative = 0}"
               "(float32[4]{nan, inf, -inf, 0.0}) {detect_positive = 0}";
  op.types = {{"T1", kRealTypes | kFloat8Types, {0}}};
  return op;
}

}  // namespace svengine::ops
