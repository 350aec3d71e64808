// LayerNormalization: every row, from `axis` on, to mean 0 and variance 1, then times scale plus bias.
#include "engine/graph/gradient.h"
#include "engine/kernels/norm.h"
#include "engine/ops/axes.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

Status infer_layer_normalization(InferContext& c) {
  for (size_t i = 0; i < 3; ++i)
    if (c.has_input(i)) SV_TRY(require_dtype(c, i, i == 0 ? "X" : i == 1 ? "Scale" : "B", {DType::f32}));
  const Shape& x = c.shape(0);
  c.set(0, DType::f32, x);
  if (!x.has_rank()) return {};
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), x.rank()));
  const Shape row(std::vector<Dim>(x.dims().begin() + axis, x.dims().end()));
  for (size_t i = 1; i < 3; ++i)
    if (c.has_input(i) && c.shape(i).is_static() && row.is_static() &&
        element_count(*c.shape(i).concrete()) != element_count(*row.concrete()))
      return error("{} of shape {} does not fit rows of shape {}", i == 1 ? "Scale" : "B", to_string(c.shape(i)), to_string(row));
  std::vector<Dim> statistics = x.dims();
  for (auto i = static_cast<size_t>(axis); i < statistics.size(); ++i) statistics[i] = Dim(1);
  c.set(1, DType::f32, Shape(statistics));
  c.set(2, DType::f32, Shape(std::move(statistics)));
  return {};
}

Status lower_layer_normalization(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  int64_t axis = c.attributes().get_int("axis", -1);
  if (axis < 0) axis += static_cast<int64_t>(dims.size());
  kernels::RowNormArgs args;
  args.rows = element_count(std::span(dims).first(static_cast<size_t>(axis)));
  args.n = element_count(std::span(dims).subspan(static_cast<size_t>(axis)));
  args.x_stride = args.y_stride = args.n;
  args.epsilon = c.attributes().get_float("epsilon", 1e-5f);
  emit_kernel(c, "layer_norm", c.kernels().norm->layer_norm, args,
              [in = c.in(0), scale = c.in(1), bias = c.in(2), out = c.out(), mean = c.out(1), inv_std = c.out(2)](
                  kernels::RowNormArgs& a, const Run& run) {
                a.x = run.get<const float>(in);
                a.scale = run.get<const float>(scale);
                a.bias = run.get<const float>(bias);
                a.y = run.get<float>(out);
                a.mean = run.get<float>(mean);
                a.inv_std = run.get<float>(inv_std);
              });
  return {};
}

Status layer_normalization_gradient(GradientContext& c) {
  for (size_t i : {size_t{1}, size_t{2}})
    if (c.output_gradient(i)) return error("output {} is used; only that of output 0 has a gradient", i);
  Value *mean = c.output(1), *inv_std = c.output(2);
  const Node* grad = c.builder().node(kInternalDomain, "LayerNormGrad", {c.dy(), c.input(0), c.input(1), mean, inv_std}, 3,
                                      make_attributes({{"axis", c.attributes().get_int("axis", -1)}}));
  if (!grad) return {};
  c.set(0, grad->output(0));
  c.set(1, c.reshape_to(grad->output(1), c.input(1)));
  if (c.wants(2)) c.set(2, c.reshape_to(grad->output(2), c.input(2)));
  return {};
}

}  // namespace

OpDef define_layer_normalization() {
  return {
      .name = "LayerNormalization",
      .since = 17,
      .inputs = {2, 3},
      .outputs = {1, 3},
      .attributes = {{"axis", AttributeKind::kInt, false, int64_t{-1}},
                     {"epsilon", AttributeKind::kFloat, false, 1e-5f},
                     {"stash_type", AttributeKind::kInt, false, int64_t{1}}},
      .infer = infer_layer_normalization,
      .lower = lower_layer_normalization,
      .gradient = layer_normalization_gradient,
      .rtol = 1e-5,
      .atol = 1e-5,
      .samples = {{.inputs = {f32({2, 7, 33}), f32({33}), f32({33})}},
                  {.inputs = {f32({3, 4, 5}), f32({4, 5})}, .attributes = {{"axis", integer(1)}}, .outputs = 3}},
  };
}

}  // namespace svengine::ops
