// MeanVarianceNormalization: (x - mean) / (deviation + 1e-9), both over the given axes (batch and pixels when none are).
#include "engine/graph/axes.h"
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/line_norm_common.h"

namespace svengine::ops {
namespace {

constexpr double kDeviationGuard = 1e-9;  // of the function that ONNX's specification gives

std::vector<int64_t> mean_axes(const Attributes& attributes) { return attributes.get_ints("axes", {0, 2, 3}); }

Status infer_mean_variance(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  if (c.shape(0).has_rank()) SV_TRY(normalise_axes(mean_axes(c.attributes()), c.shape(0).rank()));
  c.set(0, c.type(0));
  return {};
}

Status lower_mean_variance(LowerContext& c) {
  SV_ASSIGN(const std::vector<int64_t> axes, normalise_axes(mean_axes(c.attributes()), static_cast<int64_t>(c.in_dims(0).size())));
  return emit_line_norm(c, "mean_variance_normalization", kernels::LineNorm::kDeviation, kDeviationGuard, axes);
}

/// With d = x - mean, s the deviation, S = s + guard: (dy - mean(dy)) / S - d mean(dy d) / (S S s).
Status mean_variance_gradient(GradientContext& c) {
  Value *x = c.input(0), *dy = c.dy();
  const std::vector<int64_t> list = mean_axes(c.attributes());
  if (list.empty()) return zero_gradient(c);  // every element is a line
  Value* axes = c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(list.size())}, std::span<const int64_t>(list)));
  const auto mean = [&](Value* v) { return c.op("ReduceMean", {v, axes}); };
  Value* d = c.op("Sub", {x, mean(x)});
  Value* s = c.op("Sqrt", {mean(c.op("Mul", {d, d}))});
  Value* guarded = c.op("Add", {s, c.scalar(kDeviationGuard, x)});
  Value* centred = c.op("Div", {c.op("Sub", {dy, mean(dy)}), guarded});
  Value* slope = c.op("Div", {mean(c.op("Mul", {dy, d})), c.op("Mul", {c.op("Mul", {guarded, guarded}), s})});
  c.set(0, c.op("Sub", {centred, c.op("Mul", {d, slope})}));
  return {};
}

}  // namespace

OpDef define_mean_variance_normalization() {
  return {
      .name = "MeanVarianceNormalization",
      .since = 9,
      .inputs = "X",
      .attributes = {{"axes", AttributeKind::kInts}},
      .infer = infer_mean_variance,
      .lower = lower_mean_variance,
      .types = {{"T", kRealTypes, {0}}},
      .gradient = mean_variance_gradient,
      .samples = "(float32[2, 3, 5, 7])"
                 "(float32[4, 9]) {axes = [-1]}"
                 "(float64[3, 4, 5]) {axes = [0, 2]}"
                 "(float32[3, 1, 70]) {axes = [0]}"
                 "(float32[2, 3, 4, 1, 3, 5]) {axes = [-1, 0, 2]}"
                 "(float32[2, 3, 2, 600]) {axes = [1, 3]}"
                 "(float64[3, 2, 2, 3, 4]) {axes = [0, 1, 3]}"
                 "(float32[3]) {axes = ints[]}"
                 "(float32[0, 3]) {axes = [1]}",
  };
}

}  // namespace svengine::ops
