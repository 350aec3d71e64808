#include "engine/graph/axes.h"
#include "engine/ops/adjoint/wide_gradients.h"

namespace svengine::ops::wide {
namespace {

Value* integer_list(GradientContext& c, const std::vector<int64_t>& values) {
  return c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)));
}

/// The sum over all dimensions that `like` has not, or has as 1.
Value* sum_like(GradientContext& c, Value* v, const NormOperands& norm, Value* like) {
  if (norm.per_channel.empty()) return c.sum_to(v, like);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < norm.per_channel.size(); ++i)
    if (i != 1) axes.push_back(static_cast<int64_t>(i));
  return c.reshape_to(c.op("ReduceSum", {v, integer_list(c, axes)}, make_attributes({{"keepdims", int64_t{0}}})), like);
}

}  // namespace

/// Softmax: y (dy - sum of dy y). Its logarithm: dy - exp(y) sum of dy.
Status set_softmax_gradient(GradientContext& c, bool log) {
  const int64_t rank = c.input(0)->type.shape.rank();
  int64_t axis = c.attributes().get_int("axis", -1);
  if (rank < 0) return error("the gradient in float64 needs an input of known rank");
  if (axis < 0) axis += rank;
  std::vector<int64_t> axes;
  for (int64_t i = axis; i < rank && (i == axis || c.attributes().get_int("coerced") != 0); ++i) axes.push_back(i);
  Value* y = c.output();
  const auto total = [&](Value* v) {
    return axes.empty() ? v : c.op("ReduceSum", {v, integer_list(c, axes)}, make_attributes({{"keepdims", int64_t{1}}}));
  };
  if (log) c.set(0, c.op("Sub", {c.dy(), c.op("Mul", {c.op("Exp", {y}), total(c.dy())})}));
  else c.set(0, c.op("Mul", {y, c.op("Sub", {c.dy(), total(c.op("Mul", {c.dy(), y}))})}));
  return {};
}

/// h = (x - mean) / deviation, g = dy scale: dx = (g - mean of g - h mean of g h) / deviation.
Status set_norm_gradient(GradientContext& c, const NormOperands& norm) {
  Value *x = c.input(0), *axes = integer_list(c, norm.axes);
  const auto mean = [&](Value* v) { return c.op("ReduceMean", {v, axes}); };
  const auto broadcast = [&](Value* v) { return norm.per_channel.empty() ? v : c.op("Reshape", {v, integer_list(c, norm.per_channel)}); };
  Value* centered = c.op("Sub", {x, norm.mean ? broadcast(norm.mean) : mean(x)});
  Value* variance = norm.variance ? broadcast(norm.variance) : mean(c.op("Mul", {centered, centered}));
  Value* epsilon = c.scalar(c.attributes().get_float("epsilon", 1e-5f), x);
  Value* inv_std = c.op("Reciprocal", {c.op("Sqrt", {c.op("Add", {variance, epsilon})})});
  Value* h = c.op("Mul", {centered, inv_std});
  if (c.wants(0)) {
    Value* g = c.op("Mul", {c.dy(), broadcast(c.input(1))});
    Value* rest = norm.mean ? g : c.op("Sub", {c.op("Sub", {g, mean(g)}), c.op("Mul", {h, mean(c.op("Mul", {g, h}))})});
    c.set(0, c.op("Mul", {inv_std, rest}));
  }
  if (c.wants(1)) c.set(1, sum_like(c, c.op("Mul", {c.dy(), h}), norm, c.input(1)));
  if (c.wants(2)) c.set(2, sum_like(c, c.dy(), norm, c.input(2)));
  return {};
}

}  // namespace svengine::ops::wide
