#include <algorithm>
#include <cmath>

#include "engine/ops/ml/feature_gradients.h"
#include "engine/ops/ml/ml_common.h"

namespace svengine::ops {
namespace {

/// `v` as input i's type: most of these operators give float32 whatever they take.
Value* as_input(GradientContext& c, Value* v, size_t i = 0) {
  const DType type = c.input(i)->type.dtype;
  return v && v->type.dtype == type ? v : c.op("Cast", {v}, make_attributes({{"to", static_cast<int64_t>(type)}}));
}

Value* floats(GradientContext& c, const std::vector<float>& values) {
  return c.builder().constant(Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span<const float>(values)));
}

}  // namespace

Status scaler_gradient(GradientContext& c) {
  const std::vector<float> scale = float_list(c.attributes(), "scale");
  c.set(0, as_input(c, scale.empty() ? c.dy() : c.op("Mul", {c.dy(), floats(c, scale)})));
  return {};
}

Status imputer_gradient(GradientContext& c) {
  Value* x = c.input(0);
  const float replaced = c.attributes().get_float("replaced_value_float", 0);
  Value* missing = std::isnan(replaced) ? c.op("IsNaN", {x}) : c.op("Equal", {x, c.scalar(static_cast<double>(replaced), x)});
  c.set(0, c.op("Where", {missing, c.scalar(0, x), c.dy()}));
  return {};
}

/// y = x / s: dx = (dy - u (sum of dy y)) / s, where u is the slope of s; rows of norm 0 stay as they are.
Status normalizer_gradient(GradientContext& c) {
  Value *x = c.input(0), *dy = as_input(c, c.dy()), *last = c.builder().integers({-1});
  const std::string norm = c.attributes().get_string("norm", "MAX");
  const char* reduction = norm == "MAX" ? "ReduceMax" : norm == "L1" ? "ReduceL1" : "ReduceL2";
  Value *s = c.op(reduction, {x, last}), *zero = c.scalar(0, x);
  if (!s) return {};
  Value* is_zero = c.op("Equal", {s, zero});
  Value* by = c.op("Where", {is_zero, c.scalar(1, x), s});
  Value* y = c.op("Div", {x, by});
  Value* slope = norm == "L2" ? y : c.op(norm == "L1" ? "Sign" : "Hardmax", {x});
  Value* along = c.op("Mul", {slope, c.op("ReduceSum", {c.op("Mul", {dy, y}), last})});
  c.set(0, c.op("Where", {is_zero, dy, c.op("Div", {c.op("Sub", {dy, along}), by})}));
  return {};
}

Status feature_vectorizer_gradient(GradientContext& c) {
  const std::vector<int64_t> sizes = c.attributes().get_ints("inputdimensions");
  int64_t first = 0;
  for (size_t i = 0; i < sizes.size(); first += sizes[i++]) {
    if (!c.wants(i)) continue;
    const Shape& x = c.input(i)->type.shape;
    if (!x.has_rank() || !x.back().is_static()) return error("the gradient needs the columns of input {}, {}", i, to_string(x));
    const int64_t features = x.rank() == 1 ? x[0].value() : x[1].value(), kept = std::min(sizes[i], features);
    Value* g = c.op("Slice", {c.dy(), c.builder().integers({first}), c.builder().integers({first + kept}), c.builder().integers({1})});
    if (kept < features) g = c.op("Pad", {g, c.builder().integers({0, 0, 0, features - kept})});
    c.set(i, as_input(c, c.reshape_to(g, c.input(i)), i));
  }
  return {};
}

Status array_feature_extractor_gradient(GradientContext& c) {
  Value *dy = c.dy(), *flat = c.builder().integers({-1});
  if (c.input(0)->type.shape.rank() == 1) dy = c.op("Reshape", {dy, flat});
  c.set(0, c.internal("GatherGrad", {dy, c.op("Reshape", {c.input(1), flat}), c.input(0)}, make_attributes({{"axis", int64_t{-1}}})));
  return {};
}

}  // namespace svengine::ops
