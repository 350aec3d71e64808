// InstanceNormalization: every channel of every image to mean 0 and variance 1, then times scale plus bias.
#include "engine/graph/gradient.h"
#include "engine/kernels/norm.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/samples.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

Status infer_instance_normalization(InferContext& c) {
  static constexpr const char* kNames[] = {"input", "scale", "B"};
  SV_TRY(require_rank_at_least(c, 0, "input", 3));
  for (size_t i = 1; i < 3; ++i) {
    SV_TRY(require_rank(c, i, kNames[i], 1));
    if (c.shape(0).has_rank() && c.shape(i).has_rank() && known_different(c.shape(0)[1], c.shape(i)[0]))
      return error("{} has {} elements, needs one for each of the {} channels", kNames[i], c.shape(i)[0].value(), c.shape(0)[1].value());
  }
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

Status lower_instance_normalization(LowerContext& c) {
  if (wide::is_wide(c)) {
    wide::emit_instance_norm(c);
    return {};
  }
  const Dims dims = c.in_dims(0);
  kernels::GroupNormArgs args;
  args.batch = dims[0];
  args.channels = args.groups = dims[1];
  args.spatial = element_count(std::span(dims).subspan(2));
  args.epsilon = c.attributes().get_float("epsilon", 1e-5f);
  emit_kernel(c, "instance_norm", c.kernels().norm->group_norm, args,
              [in = c.in(0), scale = c.in(1), bias = c.in(2), out = c.out()](kernels::GroupNormArgs& a, const Run& run) {
                a.x = run.get<const float>(in);
                a.y = run.get<float>(out);
                a.scale = run.get<const float>(scale);
                a.bias = run.get<const float>(bias);
              });
  return {};
}

/// Sums and means over the pixels of [N, C, ...].
struct Pixels {
  GradientContext& c;
  int64_t rank;

  Value* list(bool with_batch) const {
    std::vector<int64_t> axes;
    if (with_batch) axes.push_back(0);
    for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
    return c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, std::span<const int64_t>(axes)));
  }
  Value* mean(Value* v) const { return c.op("ReduceMean", {v, list(false)}); }
  Value* sum_of_channels(Value* v) const {
    return c.op("ReduceSum", {v, list(true)}, make_attributes({{"keepdims", int64_t{0}}}));
  }
  /// [C] as [C, 1, ...], which broadcasts over images and pixels.
  Value* per_channel(Value* v) const {
    std::vector<int64_t> axes;
    for (int64_t i = 2; i < rank; ++i) axes.push_back(i - 1);
    return c.op(
        "Unsqueeze",
        {v, c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, std::span<const int64_t>(axes)))});
  }
};

Status instance_normalization_gradient(GradientContext& c) {
  Value *x = c.input(0), *scale = c.input(1);
  const int64_t rank = x->type.shape.rank();
  if (rank < 3) return error("the gradient needs an input of known rank");
  const Pixels pixels{c, rank};
  // As in layer norm, over the pixels of each image and channel: h is the normalised value, g its gradient.
  Value* centered = c.op("Sub", {x, pixels.mean(x)});
  Value* variance = pixels.mean(c.op("Mul", {centered, centered}));
  Value* inv_std =
      c.op("Reciprocal", {c.op("Sqrt", {c.op("Add", {variance, c.scalar(c.attributes().get_float("epsilon", 1e-5f), x)})})});
  Value* h = c.op("Mul", {centered, inv_std});
  if (c.wants(0)) {
    Value* g = c.op("Mul", {c.dy(), pixels.per_channel(scale)});
    Value* rest = c.op("Sub", {g, pixels.mean(g)});
    c.set(0, c.op("Mul", {inv_std, c.op("Sub", {rest, c.op("Mul", {h, pixels.mean(c.op("Mul", {g, h}))})})}));
  }
  if (c.wants(1)) c.set(1, pixels.sum_of_channels(c.op("Mul", {c.dy(), h})));
  if (c.wants(2)) c.set(2, pixels.sum_of_channels(c.dy()));
  return {};
}

}  // namespace

OpDef define_instance_normalization() {
  return {
      .name = "InstanceNormalization",
      .inputs = {3, 3},
      .attributes = {{"epsilon", AttributeKind::kFloat, false, 1e-5f}},
      .infer = infer_instance_normalization,
      .lower = lower_instance_normalization,
      .types = {{"T", kRealTypes, {0, 1, 2}}},
      .gradient = instance_normalization_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = {{.inputs = {f32({2, 3, 5, 7}), f32({3}), f32({3})}}, {.inputs = {f32({1, 4, 65}), f32({4}), f32({4})}},
                  {.inputs = {any(DType::f64, {2, 3, 15}, -2, 2), any(DType::f64, {3}, -2, 2), any(DType::f64, {3}, -2, 2)}}},
  };
}

}  // namespace svengine::ops
