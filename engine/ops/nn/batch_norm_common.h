// What BatchNormalization, BatchNormRelu, their gradient and ChannelAffine share.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/memory.h"
#include "engine/graph/gradient.h"
#include "engine/kernels/activation.h"
#include "engine/kernels/norm.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// Outputs of the training mode behind Y and the running statistics, which only gradients ask for: the mean and (biased)
/// variance of the batch.
inline constexpr size_t kBatchMean = 3, kBatchVariance = 4;

/// Sizes and layout of input 0, [batch, channels, ...]; of rank 1 it has one channel.
kernels::ChannelAffineArgs channel_affine_args(const LowerContext& c);

/// Inputs X, scale, B, input_mean, input_var (further ones are not looked at); outputs Y and, in training, up to four per channel.
Status infer_batch_norm(InferContext& c);

/// Y = activation(norm(X) + residual), and the statistics that are asked for.
Status lower_batch_norm(LowerContext& c, Buffer residual, const kernels::ActivationArgs& activation);

/// The gradients of inputs 0 to 2 by BatchNormGrad, `relu` being its inputs behind the first five, and that of input `residual`
/// where given. Refused where a statistic is to be trained or differentiated.
Status batch_norm_gradient(GradientContext& c, const std::vector<Value*>& relu = {}, std::optional<size_t> residual = {});

/// A step: scale' = scale / sqrt(variance + epsilon), shift = bias - mean scale', per channel in double, rounded to table[0][i]
/// and table[1][i] of [2][channels]. Whoever has the same inputs gets the same bits.
void emit_scale_and_shift(LowerContext& c, Buffer scale, Buffer bias, Buffer mean, Buffer variance, Buffer table,
                          int64_t channels);

/// Channels of an image as stored: whole blocks where blocked.
template <class Args>
int64_t stored_channels(const LowerContext& c, const Args& args) {
  return args.blocked ? round_up(args.channels, c.kernels().lanes) : args.channels;
}

/// A step that calls each(run, channel) for all channels.
template <class Each>
void emit_per_channel(LowerContext& c, std::string name, int64_t channels, Each each) {
  constexpr int64_t kEach = 64;  // channels of a task
  c.emit(std::move(name), ceil_div(channels, kEach), [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    for (int64_t i = begin * kEach; i < std::min(channels, end * kEach); ++i) each(run, i);
    return nullptr;
  });
}

}  // namespace svengine::ops
