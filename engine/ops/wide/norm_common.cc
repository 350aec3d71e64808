// Batch norm and local response in float64. Means and variances in two passes.
#include <cmath>

#include "engine/ops/nn/batch_norm_common.h"
#include "engine/ops/wide/items.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops::wide {
namespace {

struct NormMoments {
  double mean, variance;
};

/// Of `lines` lines of n, `apart` from one to the next.
NormMoments moments_of(const double* x, int64_t lines, int64_t n, int64_t apart) {
  const auto mean_of = [&](const auto& term) {
    double sum = 0;
    for (int64_t l = 0; l < lines; ++l)
      for (int64_t i = 0; i < n; ++i) sum += term(x[l * apart + i]);
    return sum / static_cast<double>(lines * n);
  };
  const double mean = mean_of([](double v) { return v; });
  return {mean, mean_of([mean](double v) { return (v - mean) * (v - mean); })};
}

/// The moments of channel i of the batch.
NormMoments channel_moments(const double* x, int64_t i, int64_t batch, int64_t channels, int64_t spatial) {
  return moments_of(x + i * spatial, batch, spatial, channels * spatial);
}

}  // namespace

Status lower_batch_norm(LowerContext& c) {
  const kernels::ChannelAffineArgs shape = channel_affine_args(c);
  const int64_t batch = shape.batch, channels = shape.channels, spatial = shape.spatial;
  Buffer mean = c.in(3), variance = c.in(4);
  if (c.attributes().get_int("training_mode")) {
    if (batch * spatial == 0) return error("training takes means over X {}, which has no values", to_string(c.in_type(0).shape));
    mean = c.has_output(kBatchMean) ? c.out(kBatchMean) : c.temporary(channels * 8);
    variance = c.has_output(kBatchVariance) ? c.out(kBatchVariance) : c.temporary(channels * 8);
    const double momentum = c.attributes().get_float("momentum", 0.9f);
    emit_items(c, "batch_moments", channels, items_of_work(batch * spatial),
               [=, x = c.in(0), old_mean = c.in(3), old_variance = c.in(4), new_mean = c.out(1), new_variance = c.out(2)](
                   const Run& run, int64_t begin, int64_t end) {
                 const auto blend = [&](Buffer to, Buffer old, int64_t i, double value) {
                   if (to) run.get<double>(to)[i] = run.get<const double>(old)[i] * momentum + value * (1 - momentum);
                 };
                 for (int64_t i = begin; i < end; ++i) {
                   const NormMoments m = channel_moments(run.get<const double>(x), i, batch, channels, spatial);
                   run.get<double>(mean)[i] = m.mean;
                   run.get<double>(variance)[i] = m.variance;
                   blend(new_mean, old_mean, i, m.mean);
                   blend(new_variance, old_variance, i, m.variance);
                 }
               });
  }
  const double epsilon = c.attributes().get_float("epsilon", 1e-5f);
  emit_items(c, "batch_norm", batch * channels, items_of_work(spatial),
             [=, x = c.in(0), scale = c.in(1), bias = c.in(2), out = c.out()](const Run& run, int64_t begin, int64_t end) {
               for (int64_t plane = begin; plane < end; ++plane) {
                 const int64_t i = plane % channels;
                 const double factor = run.get<const double>(scale)[i] / std::sqrt(run.get<const double>(variance)[i] + epsilon);
                 const double middle = run.get<const double>(mean)[i], shift = run.get<const double>(bias)[i];
                 const double* from = run.get<const double>(x) + plane * spatial;
                 double* to = run.get<double>(out) + plane * spatial;
                 for (int64_t k = 0; k < spatial; ++k) to[k] = (from[k] - middle) * factor + shift;
               }
             });
  return {};
}

void emit_local_response(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const int64_t channels = dims[1], spatial = element_count(std::span(dims).subspan(2)), size = c.attributes().get_int("size");
  const double alpha = c.attributes().get_float("alpha", 1e-4f), beta = c.attributes().get_float("beta", 0.75f);
  const double bias = c.attributes().get_float("bias", 1.0f);
  emit_items(c, "local_response", element_count(dims), items_of_work(64 + std::min(size, channels)),
             [=, in = c.in(0), out = c.out()](const Run& run, int64_t begin, int64_t end) {
               const double* x = run.get<const double>(in);
               for (int64_t i = begin; i < end; ++i) {
                 const int64_t channel = i / spatial % channels;
                 double squares = 0;
                 for (int64_t d = std::max(-((size - 1) / 2), -channel); d <= std::min(size / 2, channels - 1 - channel); ++d)
                   squares += x[i + d * spatial] * x[i + d * spatial];
                 run.get<double>(out)[i] = x[i] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta);
               }
             });
}

}  // namespace svengine::ops::wide
