// LpNormalization: each vector along an axis divided by its norm, L1 or L2; vectors of zeros stay zeros.
#include "engine/graph/axes.h"
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/line_norm_common.h"

namespace svengine::ops {
namespace {

Status infer_lp_normalization(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_rank_at_least(c, 0, 1));
  const int64_t p = c.attributes().get_int("p", 2);
  if (p != 1 && p != 2) return error("p is {}, needs 1 or 2", p);
  if (c.shape(0).has_rank()) SV_TRY(normalise_axis(c.attributes().get_int("axis", -1), c.shape(0).rank()));
  c.set(0, c.type(0));
  return {};
}

Status lower_lp_normalization(LowerContext& c) {
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), static_cast<int64_t>(c.in_dims(0).size())));
  const auto norm = c.attributes().get_int("p", 2) == 2 ? kernels::LineNorm::kL2 : kernels::LineNorm::kL1;
  return emit_line_norm(c, "lp_normalization", norm, 0, {axis});
}

/// With y = x / |x|: (dy - g sum(dy y)) / |x|, g being the norm's gradient: y for L2, sign(x) for L1. Vectors of zeros get zeros.
Status lp_normalization_gradient(GradientContext& c) {
  Value *x = c.input(0), *y = c.output();
  const int64_t axis = c.attributes().get_int("axis", -1);
  const bool squares = c.attributes().get_int("p", 2) == 2;
  Value* axes = c.builder().integers({axis});
  Value* norm = c.op(squares ? "ReduceL2" : "ReduceL1", {x, axes});
  Value* along = c.op("ReduceSum", {c.op("Mul", {c.dy(), y}), axes});
  Value* slope = squares ? y : c.op("Sign", {x});
  Value* dx = c.op("Div", {c.op("Sub", {c.dy(), c.op("Mul", {slope, along})}), norm});
  c.set(0, c.op("Where", {c.op("Equal", {norm, c.scalar(0, x)}), c.scalar(0, x), dx}));
  return {};
}

}  // namespace

OpDef define_lp_normalization() {
  return {
      .name = "LpNormalization",
      .inputs = "input",
      .attributes = {{"axis", AttributeKind::kInt, false, -1}, {"p", AttributeKind::kInt, false, 2}},
      .infer = infer_lp_normalization,
      .lower = lower_lp_normalization,
      .types = {{"T", kRealTypes, {0}}},
      .gradient = lp_normalization_gradient,
      .samples = "(float32[3, 37])"
                 "(float32[3, 4, 5]) {axis = 1, p = 1}"
                 "(float64[3, 7]) {axis = 0}"
                 "(float64[2, 75]) {p = 1}"
                 "(float32[2, 5, 71]) {axis = 1}"
                 "(float32[2, 1, 3]) {axis = 1}"
                 "(float32[2, 0])",
  };
}

}  // namespace svengine::ops
