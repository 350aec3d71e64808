// svengine.BatchNormGrad: the gradients of BatchNormalization's X, scale and bias. Inputs: dy, X, scale, and the mean and
// (biased) variance that the forward pass normalised with: the batch's own with training = 1, which then depend on X.
//
// Of BatchNormRelu there is one more input, from which it is seen where the Relu lets dy pass:
//   input 5, bias: without a residual, computed from X as the forward pass did
//   input 6, Y: with one. Output 3 is then the residual's gradient, and input 7, optional, is added to dy
#include <cmath>

#include "engine/graph/blocked_rank.h"
#include "engine/kernels/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/nn/batch_norm_common.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kBias = 5, kY = 6, kMore = 7;  // inputs
constexpr size_t kMasked = 3;                    // output

Status infer_batch_norm_grad(InferContext& c) {
  SV_TRY(require_rank_at_least(c, 1, 1));
  for (const size_t i : {size_t{0}, size_t{1}, kY, kMore}) {
    if (!c.has_input(i)) continue;
    SV_TRY(require_dtype(c, i, kSingleTypes));
    SV_TRY(require_same_shape(c, i, 1));
  }
  for (size_t i = 2; i <= kBias; ++i)
    if (c.has_input(i)) SV_TRY(require_per_channel(c, i));
  if (c.has_input(kY) && c.has_input(kBias)) return error("both bias and Y say what passes the Relu; need one");
  if (c.has_input(kY) != c.has_output(kMasked))
    return error("the residual's gradient, output {}, needs Y, and Y asks for it", kMasked);
  if (c.has_input(kMore) && !c.has_input(kY)) return error("a second dy needs Y");
  c.set(0, c.type(1));
  c.set(1, c.type(2));
  c.set(2, c.type(2));
  c.set(kMasked, c.type(1));
  return {};
}

/// What the kernels read besides x and dy: [6][channels] of inv_std, a, b, k with dx = a dy + b x + k, and the forward pass's
/// scale and shift.
struct Tables {
  Buffer buffer;
  int64_t channels;
  bool relu;  // is seen from scale and shift
  const float* at(const Run& run, int64_t i) const { return run.get<const float>(buffer) + i * channels; }
  const float* scale(const Run& run) const { return relu ? at(run, 4) : nullptr; }
  const float* shift(const Run& run) const { return relu ? at(run, 5) : nullptr; }
};

void emit_channel_grad_sums(LowerContext& c, const kernels::ChannelGradSumsArgs& args, const Tables& tables, Buffer sums) {
  const double epsilon = c.attributes().get_float("epsilon", 1e-5f);
  c.emit("batch_norm_inv_std", 1, [=, variance = c.in(4)](const Run& run, int64_t, int64_t) -> const char* {
    for (int64_t i = 0; i < tables.channels; ++i)
      run.get<float>(tables.buffer)[i] = static_cast<float>(1 / std::sqrt(run.get<float>(variance)[i] + epsilon));
    return nullptr;
  });
  const Buffer scale_and_shift{tables.buffer.base, tables.buffer.offset + 4 * tables.channels * 4};
  if (tables.relu) emit_scale_and_shift(c, c.in(2), c.in(kBias), c.in(3), c.in(4), scale_and_shift, tables.channels);
  emit_kernel(c, "batch_norm_grad_sums", c.kernels().gradient->channel_sums, args,
              [tables, sums, dy = c.in(0), x = c.in(1), mean = c.in(3), y = c.in(kY), more = c.in(kMore), masked = c.out(kMasked)](
                  kernels::ChannelGradSumsArgs& a, const Run& run) {
                a.dy = run.get<const float>(dy);
                a.x = run.get<const float>(x);
                a.mean = run.get<const float>(mean);
                a.inv_std = tables.at(run, 0);
                a.sums = run.get<float>(sums);
                a.scale = tables.scale(run), a.shift = tables.shift(run);
                a.y = run.get<const float>(y), a.dy_more = run.get<const float>(more);
                a.masked = run.get<float>(masked);
              });
}

/// The images' sums to the batch's: dscale and dbias.
void emit_totals(LowerContext& c, const kernels::ChannelGradSumsArgs& args, Buffer sums) {
  emit_per_channel(c, "batch_norm_grad_totals", args.channels,
                   [sums, dscale = c.out(1), dbias = c.out(2), batch = args.batch, stored = stored_channels(c, args)](
                       const Run& run, int64_t i) {
                     const float* images = run.get<const float>(sums) + i;
                     double scale = 0, bias = 0;
                     for (int64_t b = 0; b < batch; ++b) {
                       scale += images[2 * b * stored];
                       bias += images[(2 * b + 1) * stored];
                     }
                     run.get<float>(dscale)[i] = static_cast<float>(scale);
                     run.get<float>(dbias)[i] = static_cast<float>(bias);
                   });
}

/// In training, with s = scale inv_std and m elements a channel: a = s, b = -s inv_std dscale / m, k = -s dbias / m - b mean.
void emit_coefficients(LowerContext& c, const Tables& tables, double count) {
  const bool training = c.attributes().get_int("training") != 0;
  c.emit(
      "batch_norm_grad_coefficients", 1,
      [=, scale = c.in(2), mean = c.in(3), dscale = c.out(1), dbias = c.out(2)](const Run& run, int64_t, int64_t) -> const char* {
        float* out = run.get<float>(tables.buffer);
        const int64_t n = tables.channels;
        for (int64_t i = 0; i < n; ++i) {
          const double inv_std = out[i], s = run.get<float>(scale)[i] * inv_std;
          const double b = training ? -s * inv_std * run.get<float>(dscale)[i] / count : 0;
          out[n + i] = static_cast<float>(s);
          out[2 * n + i] = static_cast<float>(b);
          out[3 * n + i] = static_cast<float>(training ? -s * run.get<float>(dbias)[i] / count - b * run.get<float>(mean)[i] : 0);
        }
        return nullptr;
      });
}

Status lower_batch_norm_grad(LowerContext& c) {
  const kernels::ChannelAffineArgs image = channel_affine_args(c);
  const int64_t batch = image.batch, channels = image.channels, spatial = image.spatial;
  if (batch * spatial == 0) {  // sums of nothing, whatever the deviation is that they would be divided by
    emit_zeros(c, 1), emit_zeros(c, 2);
    return {};
  }
  const Tables tables{c.temporary(6 * channels * 4), channels, c.has_input(kBias)};
  kernels::ChannelGradSumsArgs shape;
  shape.batch = batch, shape.channels = channels, shape.spatial = spatial;
  shape.blocked = c.in_type(1).block > 0;
  const Buffer sums = c.temporary(batch * 2 * stored_channels(c, shape) * 4);
  emit_channel_grad_sums(c, shape, tables, sums);
  emit_totals(c, shape, sums);
  emit_coefficients(c, tables, static_cast<double>(batch) * static_cast<double>(spatial));
  kernels::ChannelGradArgs args;
  args.batch = batch, args.channels = channels, args.spatial = spatial;
  args.blocked = shape.blocked;
  emit_kernel(c, "batch_norm_grad", c.kernels().gradient->channel, args,
              [tables, dy = c.has_output(kMasked) ? c.out(kMasked) : c.in(0), x = c.in(1), dx = c.out()](kernels::ChannelGradArgs& a,
                                                                                                        const Run& run) {
                a.dy = run.get<const float>(dy);
                a.x = run.get<const float>(x);
                a.dx = run.get<float>(dx);
                a.a = tables.at(run, 1), a.b = tables.at(run, 2), a.k = tables.at(run, 3);
                a.scale = tables.scale(run), a.shift = tables.shift(run);
              });
  return {};
}

bool can_block_batch_norm_grad(const Node& node, int) {
  const Shape& x = node.input(1)->type.shape;
  return is_blocked_rank(x.rank()) && (node.input(0)->type.block > 0 || node.input(1)->type.block > 0);
}

}  // namespace

OpDef define_batch_norm_grad() {
  return {
      .name = "BatchNormGrad",
      .domain = kInternalDomain,
      .inputs = "dy, X, scale, mean, variance, bias?, Y?, dy_more?",
      .outputs = {3, 4},
      .attributes = {{"epsilon", AttributeKind::kFloat, false, 1e-5f}, {"training", AttributeKind::kInt, false, 0}},
      .infer = infer_batch_norm_grad,
      .lower = lower_batch_norm_grad,
      .traits = {.may_overwrite = true},
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_batch_norm_grad, .inputs = {1, kY, kMore}},
      .samples = "(float32[2, 5, 7, 3], float32[2, 5, 7, 3], float32[5], float32[5], float32[5] 0.5 to 2) 3"
                 "(float32[3, 18], float32[3, 18], float32[18], float32[18], float32[18] 0.5 to 2) {training = 1} 3"
                 "(float32[2, 5, 4, 3], float32[2, 5, 4, 3], float32[5], float32[5], float32[5] 0.5 to 2, float32[5]) {training = 1} 3",
  };
}

}  // namespace svengine::ops
