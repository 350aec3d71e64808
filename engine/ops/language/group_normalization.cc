// GroupNormalization: every group of channels of every image to mean 0 and variance 1, then times scale plus bias of the channel.
#include <cmath>

#include "engine/graph/gradient.h"
#include "engine/kernels/norm.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/language/attention_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

/// Opset 18 had one scale and bias for a group: each is repeated for the group's channels.
Status canonicalize_group_normalization(CanonicalizeContext& c) {
  const int64_t groups = c.attributes().get_int("num_groups", 0);
  if (c.opset() >= 21 || groups < 1 || c.node().inputs().size() != 3) return {};
  Builder b(c.graph(), c.ops());
  b.set_position(&c.node());
  Value* channels = b.add("Shape", {c.node().input(0)}, make_attributes({{"start", int64_t{1}}, {"end", int64_t{2}}}));
  Value* each = b.add("Div", {channels, b.integers({groups})});
  Value* shape = b.add("Concat", {b.integers({1}), each}, make_attributes({{"axis", int64_t{0}}}));
  for (size_t i = 1; i < 3; ++i) {
    if (!c.node().input(i)) return {};
    Value* repeated = b.add("Expand", {b.add("Reshape", {c.node().input(i), b.integers({groups, 1})}), shape});
    c.set_input(i, b.add("Reshape", {repeated, b.integers({-1})}));
  }
  return b.status();
}

Status infer_group_normalization(InferContext& c) {
  static constexpr const char* kNames[] = {"X", "scale", "bias"};
  SV_TRY(require_rank_at_least(c, 0, "X", 2));
  for (size_t i = 0; i < 3; ++i) {
    SV_TRY(require_dtype(c, i, kNames[i], kFloatTypes));
    if (i == 0) continue;
    if (c.dtype(i) != c.dtype(0))
      return error("{} is {}, must be {} as X is", kNames[i], name_of(c.dtype(i)), name_of(c.dtype(0)));
    SV_TRY(require_rank(c, i, kNames[i], 1));
    if (c.shape(0).has_rank() && c.shape(i).has_rank() && known_different(c.shape(0)[1], c.shape(i)[0]))
      return error("{} has {} elements, needs one for each of the {} channels", kNames[i], c.shape(i)[0].value(),
                   c.shape(0)[1].value());
  }
  const int64_t groups = c.attributes().get_int("num_groups", 0);
  if (groups < 1) return error("num_groups is {}, must be at least 1", groups);
  if (c.shape(0).has_rank() && c.shape(0)[1].is_static() && c.shape(0)[1].value() % groups != 0)
    return error("{} channels cannot be cut into {} groups", c.shape(0)[1].value(), groups);
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

void emit_groups_of_doubles(LowerContext& c, const kernels::GroupNormArgs& a) {
  const int64_t each = a.channels / a.groups;
  c.emit("group_norm", a.batch * a.groups,
         [=, in = c.in(0), scales = c.in(1), biases = c.in(2), out = c.out()](const Run& run, int64_t begin,
                                                                              int64_t end) -> const char* {
           for (int64_t task = begin; task < end; ++task) {
             const int64_t n = each * a.spatial, channel = task % a.groups * each;
             const double* x = run.get<const double>(in) + task * n;
             double* y = run.get<double>(out) + task * n;
             double mean = 0, variance = 0;
             for (int64_t i = 0; i < n; ++i) mean += x[i] / static_cast<double>(n);
             for (int64_t i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(n);
             const double factor = 1 / std::sqrt(variance + double{a.epsilon});
             for (int64_t i = 0; i < n; ++i)
               y[i] = (x[i] - mean) * factor * run.get<const double>(scales)[channel + i / a.spatial] +
                      run.get<const double>(biases)[channel + i / a.spatial];
           }
           return nullptr;
         });
}

Status lower_group_normalization(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  kernels::GroupNormArgs args;
  args.batch = dims[0], args.channels = dims[1];
  args.groups = c.attributes().get_int("num_groups", 1);
  args.spatial = element_count(std::span(dims).subspan(2));
  args.epsilon = c.attributes().get_float("epsilon", 1e-5f);
  if (element_count(dims) == 0) return {};
  if (c.in_type(0).dtype == DType::f64) return emit_groups_of_doubles(c, args), Status{};
  emit_kernel(c, "group_norm", c.kernels().norm->group_norm, args,
              [in = c.in(0), scale = c.in(1), bias = c.in(2), out = c.out()](kernels::GroupNormArgs& a, const Run& run) {
                a.x = run.get<const float>(in);
                a.y = run.get<float>(out);
                a.scale = run.get<const float>(scale);
                a.bias = run.get<const float>(bias);
              });
  return {};
}

std::vector<int64_t> axes_of_pixels(int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < rank - 1; ++i) axes.push_back(i);
  return axes;
}

/// As of a layer norm over each group: h is the normalised value, g its gradient, rows are groups.
Status group_normalization_gradient(GradientContext& c) {
  Value* x = c.input(0);
  const int64_t rank = x->type.shape.rank();
  if (rank < 2) return error("the gradient needs an input of known rank");
  const auto list = [&](const std::vector<int64_t>& v) {
    return c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, std::span<const int64_t>(v)));
  };
  Value *groups = list({0, c.attributes().get_int("num_groups", 1), -1}), *over = list({2});
  const auto in_rows = [&](Value* v) { return c.op("Reshape", {v, groups}); };
  const auto mean = [&](Value* v) { return c.op("ReduceMean", {v, over}); };
  const auto per_channel = [&](Value* v) { return rank == 2 ? v : c.op("Unsqueeze", {v, list(axes_of_pixels(rank))}); };
  const auto of_channels = [&](Value* v) {
    std::vector<int64_t> axes{0};
    for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
    return c.op("ReduceSum", {v, list(axes)}, make_attributes({{"keepdims", int64_t{0}}}));
  };
  Value* rows = in_rows(x);
  Value* centered = c.op("Sub", {rows, mean(rows)});
  Value* root = c.op(
      "Sqrt", {c.op("Add", {mean(c.op("Mul", {centered, centered})), c.scalar(c.attributes().get_float("epsilon", 1e-5f), x)})});
  Value* h = c.op("Div", {centered, root});
  if (c.wants(0)) {
    Value* g = in_rows(c.op("Mul", {c.dy(), per_channel(c.input(1))}));
    Value* rest = c.op("Sub", {c.op("Sub", {g, mean(g)}), c.op("Mul", {h, mean(c.op("Mul", {g, h}))})});
    c.set(0, c.reshape_to(c.op("Div", {rest, root}), x));
  }
  if (c.wants(1)) c.set(1, of_channels(c.op("Mul", {c.dy(), c.reshape_to(h, x)})));
  if (c.wants(2)) c.set(2, of_channels(c.dy()));
  return {};
}

}  // namespace

OpDef define_group_normalization() {
  return {
      .name = "GroupNormalization",
      .since = 18,
      .until = 28,
      .inputs = {3, 3},
      .attributes = {{"epsilon", AttributeKind::kFloat, false, 1e-5f},
                     {"num_groups", AttributeKind::kInt, true},
                     {"stash_type", AttributeKind::kInt, false, int64_t{1}}},
      .canonicalize = canonicalize_group_normalization,
      .infer = infer_group_normalization,
      .lower = lower_group_normalization,
      .gradient = group_normalization_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = {{.inputs = {f32({2, 6, 5, 7}), f32({6}), f32({6})}, .attributes = {{"num_groups", integer(3)}}},
                  {.inputs = {f32({3, 4}), f32({4}), f32({4})}, .attributes = {{"num_groups", integer(2)}}},
                  {.inputs = {any(DType::f64, {1, 2, 3}), any(DType::f64, {2}), any(DType::f64, {2})},
                   .attributes = {{"num_groups", integer(1)}}}},
  };
}

}  // namespace svengine::ops
