#include "engine/ops/nn/batch_norm_common.h"

#include <cmath>

#include "engine/ops/adjoint/wide_gradients.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"

namespace svengine::ops {
namespace {

/// The images' moments to the batch's.
void emit_merge(LowerContext& c, const kernels::ChannelMomentsArgs& args, Buffer moments, Buffer mean, Buffer variance) {
  emit_per_channel(c, "channel_moments_merge", args.channels,
                   [=, batch = args.batch, stored = stored_channels(c, args)](const Run& run, int64_t i) {
                     const float* images = run.get<const float>(moments) + i;
                     const auto mean_of = [&](int64_t b) { return double(images[3 * b * stored]) + images[(3 * b + 1) * stored]; };
                     double mean_of_all = 0, sum_of_squares = 0;
                     for (int64_t b = 0; b < batch; ++b) mean_of_all += mean_of(b);
                     mean_of_all /= static_cast<double>(batch);
                     for (int64_t b = 0; b < batch; ++b)
                       sum_of_squares += images[(3 * b + 2) * stored] + (mean_of(b) - mean_of_all) * (mean_of(b) - mean_of_all);
                     run.get<float>(mean)[i] = static_cast<float>(mean_of_all);
                     run.get<float>(variance)[i] = static_cast<float>(sum_of_squares / static_cast<double>(batch));
                   });
}

void emit_moments(LowerContext& c, const kernels::ChannelAffineArgs& shape, Buffer mean, Buffer variance) {
  kernels::ChannelMomentsArgs args;
  args.batch = shape.batch, args.channels = shape.channels, args.spatial = shape.spatial, args.blocked = shape.blocked;
  const Buffer moments = c.temporary(args.batch * 3 * stored_channels(c, args) * 4);
  emit_kernel(c, "channel_moments", c.kernels().norm->channel_moments, args,
              [in = c.in(0), moments](kernels::ChannelMomentsArgs& a, const Run& run) {
                a.x = run.get<const float>(in);
                a.moments = run.get<float>(moments);
              });
  emit_merge(c, args, moments, mean, variance);
}

/// running = input * momentum + batch * (1 - momentum), for mean and variance.
void emit_running(LowerContext& c, Buffer mean, Buffer variance, int64_t channels) {
  const float momentum = c.attributes().get_float("momentum", 0.9f);
  const auto blend = [&](Buffer old, Buffer batch, Buffer out) {
    if (!out) return;
    c.emit("batch_norm_running", 1, [=](const Run& run, int64_t, int64_t) -> const char* {
      for (int64_t i = 0; i < channels; ++i)
        run.get<float>(out)[i] = run.get<float>(old)[i] * momentum + run.get<float>(batch)[i] * (1 - momentum);
      return nullptr;
    });
  };
  blend(c.in(3), mean, c.out(1));
  blend(c.in(4), variance, c.out(2));
}

}  // namespace

kernels::ChannelAffineArgs channel_affine_args(const LowerContext& c) {
  const Dims dims = c.in_dims(0);
  kernels::ChannelAffineArgs args;
  args.batch = dims[0];
  args.channels = dims.size() > 1 ? dims[1] : 1;
  args.spatial = dims.size() > 1 ? element_count(std::span(dims).subspan(2)) : 1;
  args.blocked = c.in_type(0).block > 0;
  return args;
}

Status infer_batch_norm(InferContext& c) {
  for (size_t i = 1; i < 5; ++i) {
    SV_TRY(require_per_channel(c, i));
    if (c.shape(i).has_rank() && c.shape(1).has_rank() && known_different(c.shape(i)[0], c.shape(1)[0]))
      return error("{} has {} elements, scale has {}", c.described(i), c.shape(i)[0].value(), c.shape(1)[0].value());
  }
  SV_TRY(require_rank_at_least(c, 0, 1));
  const bool training = c.attributes().get_int("training_mode") != 0;
  if (!training && c.output_count() > 1) return error("{} outputs need training_mode = 1", c.output_count());
  c.set(0, c.dtype(0), c.shape(0));
  for (size_t i = 1; i < c.output_count(); ++i) c.set(i, c.dtype(3), c.shape(1));
  return {};
}

void emit_scale_and_shift(LowerContext& c, Buffer scale, Buffer bias, Buffer mean, Buffer variance, Buffer table,
                          int64_t channels) {
  const double epsilon = c.attributes().get_float("epsilon", 1e-5f);
  c.emit("batch_norm_coefficients", 1, [=](const Run& run, int64_t, int64_t) -> const char* {
    float* out = run.get<float>(table);
    for (int64_t i = 0; i < channels; ++i) {
      const double s = run.get<float>(scale)[i] / std::sqrt(run.get<float>(variance)[i] + epsilon);
      out[i] = static_cast<float>(s);
      out[channels + i] = static_cast<float>(run.get<float>(bias)[i] - run.get<float>(mean)[i] * s);
    }
    return nullptr;
  });
}

Status lower_batch_norm(LowerContext& c, Buffer residual, const kernels::ActivationArgs& activation) {
  kernels::ChannelAffineArgs args = channel_affine_args(c);
  args.activation = activation;
  Buffer mean = c.in(3), variance = c.in(4);
  if (c.attributes().get_int("training_mode")) {
    if (args.batch * args.spatial == 0) return error("training takes means over X {}, which has no values", to_string(c.in_type(0).shape));
    mean = c.has_output(kBatchMean) ? c.out(kBatchMean) : c.temporary(args.channels * 4);
    variance = c.has_output(kBatchVariance) ? c.out(kBatchVariance) : c.temporary(args.channels * 4);
    emit_moments(c, args, mean, variance);
    emit_running(c, mean, variance, args.channels);
  }
  const Buffer table = c.temporary(args.channels * 8);
  emit_scale_and_shift(c, c.in(1), c.in(2), mean, variance, table, args.channels);
  emit_kernel(c, "channel_affine", c.kernels().norm->channel_affine, args,
              [in = c.in(0), out = c.out(), table, residual](kernels::ChannelAffineArgs& a, const Run& run) {
                a.x = run.get<const float>(in);
                a.y = run.get<float>(out);
                a.scale = run.get<const float>(table);
                a.shift = a.scale + a.channels;
                a.residual = run.get<const float>(residual);
              });
  return {};
}

namespace {

/// In float64, from operators that have it.
Status wide_batch_norm_gradient(GradientContext& c, bool training) {
  const int64_t rank = c.input(0)->type.shape.rank();
  if (rank < 1) return error("the gradient in float64 needs X of known rank");
  wide::NormOperands norm;
  norm.per_channel.assign(static_cast<size_t>(rank), 1);
  if (rank > 1) norm.per_channel[1] = -1;
  for (int64_t i = 0; i < rank; ++i)
    if (i != 1) norm.axes.push_back(i);
  if (!training) norm.mean = c.input(3), norm.variance = c.input(4);
  return wide::set_norm_gradient(c, norm);
}

}  // namespace

Status batch_norm_gradient(GradientContext& c, const std::vector<Value*>& relu, std::optional<size_t> residual) {
  for (size_t i = 1; i < c.node().outputs().size(); ++i)
    if (c.output_gradient(i)) return error("output {} (a running statistic) is used; only output 0 has a gradient", i);
  if (c.wants(3) || c.wants(4)) return error("the given mean and variance have no gradient; they are updated, not trained");
  const bool training = c.attributes().get_int("training_mode") != 0;
  if (wide::is_wide_gradient(c)) {
    if (!relu.empty() || residual) return error("the gradient of a norm with Relu is for float32; X is {}", name_of(c.input(0)->type.dtype));
    return wide_batch_norm_gradient(c, training);
  }
  Value* variance = training ? c.output(kBatchVariance) : c.input(4);
  Value* mean = training ? c.output(kBatchMean) : c.input(3);
  std::vector<Value*> inputs = {c.dy(), c.input(0), c.input(1), mean, variance};
  inputs.insert(inputs.end(), relu.begin(), relu.end());
  const Node* grad =
      c.builder().node(kInternalDomain, "BatchNormGrad", std::move(inputs), residual ? 4 : 3,
                       make_attributes({{"epsilon", c.attributes().get_float("epsilon", 1e-5f)}, {"training", int64_t{training}}}));
  if (!grad) return {};
  for (size_t i = 0; i < 3; ++i) c.set(i, grad->output(i));
  if (residual) c.set(*residual, grad->output(3));
  return {};
}

}  // namespace svengine::ops
