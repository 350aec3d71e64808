#include "engine/ops/training/optimizer_common.h"

#include "engine/kernels/gradient.h"
#include "engine/ops/element.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"

namespace svengine::ops {
namespace {

constexpr size_t kFirst = 2;  // after R and T

}  // namespace

Status infer_optimizer(InferContext& c, size_t per_tensor) {
  SV_TRY(require_dtype(c, 0, {DType::f32, DType::f64}));
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_single(c, 0));
  SV_TRY(require_single(c, 1));
  const size_t count = (c.input_count() - kFirst) / per_tensor;
  if (count == 0 || c.input_count() != kFirst + count * per_tensor)
    return error("{} inputs after R and T, needs {} for each tensor: weight, gradient and state", c.input_count() - kFirst,
                 per_tensor);
  if (c.output_count() != count * (per_tensor - 1))
    return error("{} outputs for {} tensors, needs {}", c.output_count(), count, count * (per_tensor - 1));
  for (size_t i = kFirst; i < c.input_count(); ++i) {
    const size_t x = kFirst + (i - kFirst) % count;
    SV_TRY(require_dtype(c, i, {DType::f32}));
    if (c.shape(i).is_static() && c.shape(x).is_static() && !(c.shape(i) == c.shape(x)))
      return error("{} is {}, the weight it belongs to (input {}) is {}", c.described(i), to_string(c.shape(i)), x,
                   to_string(c.shape(x)));
  }
  for (size_t i = 0; i < c.output_count(); ++i) c.set(i, c.type(kFirst + i % count));
  return {};
}

kernels::OptimizerArgs adam_args(const Attributes& attributes, float epsilon) {
  kernels::OptimizerArgs args;
  args.rule = kernels::OptimizerRule::kAdam;
  args.momentum = attributes.get_float("alpha", 0.9f);
  args.share = 1 - args.momentum;
  args.h_momentum = attributes.get_float("beta", 0.999f);
  args.h_share = 1 - args.h_momentum;
  args.decay = attributes.get_float("norm_coefficient", 0.0f);
  args.epsilon = attributes.get_float("epsilon", epsilon);
  return args;
}

Status lower_optimizer(LowerContext& c, kernels::OptimizerArgs args, size_t per_tensor, SetRates set_rates) {
  const size_t count = (c.input_count() - kFirst) / per_tensor;
  const bool has_v = args.rule == kernels::OptimizerRule::kAdam || (args.rule == kernels::OptimizerRule::kSgd && per_tensor == 3);
  const bool has_h = args.rule != kernels::OptimizerRule::kSgd;
  const size_t h_group = has_v ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    const auto in = [&](size_t group) { return c.in(kFirst + group * count + i); };
    const auto out = [&](size_t group) { return c.out(group * count + i); };
    args.n = element_count(c.in_dims(kFirst + i));
    // States follow the gradients among the inputs, and the weights among the outputs.
    const Buffer v = has_v ? in(2) : Buffer{}, v_new = has_v ? out(1) : Buffer{};
    const Buffer h = has_h ? in(h_group + 1) : Buffer{}, h_new = has_h ? out(h_group) : Buffer{};
    emit_kernel(c, "optimizer", c.kernels().gradient->optimizer, args,
                [=, attributes = c.attributes(), rate = c.in(0), rate_type = c.in_type(0).dtype, steps = c.in(1), x = in(0),
                 g = in(1), x_new = out(0)](kernels::OptimizerArgs& a, const Run& run) {
                  a.x = run.get<const float>(x), a.g = run.get<const float>(g), a.x_new = run.get<float>(x_new);
                  a.v = run.get<const float>(v), a.v_new = run.get<float>(v_new);
                  a.h = run.get<const float>(h), a.h_new = run.get<float>(h_new);
                  set_rates(attributes, number_at(rate_type, run.get<const std::byte>(rate), 0), *run.get<const int64_t>(steps),
                            a);
                });
  }
  return {};
}

Status lower_layerwise(LowerContext& c, kernels::LayerwiseArgs args, SetLayerwiseRates set_rates) {
  const bool has_h = args.rule == kernels::LayerwiseRule::kLamb;
  const size_t count = (c.input_count() - kFirst) / (has_h ? 4 : 3);
  args.adapt = c.attributes().get_int("adapt", 1) != 0;
  for (size_t i = 0; i < count; ++i) {
    const auto in = [&](size_t group) { return c.in(kFirst + group * count + i); };
    const auto out = [&](size_t group) { return c.out(group * count + i); };
    args.n = element_count(c.in_dims(kFirst + i));
    const Buffer h = has_h ? in(3) : Buffer{}, h_new = has_h ? out(2) : Buffer{};
    const Buffer partials = c.temporary(kernels::layerwise_partials(args.n) * static_cast<int64_t>(sizeof(float)));
    const auto bind = [=, attributes = c.attributes(), rate = c.in(0), rate_type = c.in_type(0).dtype, steps = c.in(1), x = in(0),
                       g = in(1), v = in(2), x_new = out(0), v_new = out(1)](kernels::LayerwiseArgs& a, const Run& run) {
      a.x = run.get<const float>(x), a.g = run.get<const float>(g), a.x_new = run.get<float>(x_new);
      a.v = run.get<const float>(v), a.v_new = run.get<float>(v_new);
      a.h = run.get<const float>(h), a.h_new = run.get<float>(h_new);
      a.partials = run.get<float>(partials);
      set_rates(attributes, number_at(rate_type, run.get<const std::byte>(rate), 0), *run.get<const int64_t>(steps), a);
    };
    emit_kernel(c, "layerwise_norms", c.kernels().gradient->layerwise_norms, args, bind);
    emit_kernel(c, "layerwise_step", c.kernels().gradient->layerwise_step, args, bind);
  }
  return {};
}

}  // namespace svengine::ops
