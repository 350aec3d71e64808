// Normalisations of float32: layer, RMS, group and instance norm, batch norm as a channel's scale and shift, local
// response, and lines divided by their norm. Of float64: group norm and lines by their norm.
//
// Means and variances are taken in two passes, from x - mean, with blocked and compensated sums (relative error about
// 1e-7 whatever n is), in an order fixed by the shape. NaN or infinity in a normalised line makes all of that line NaN.
// Outputs may be the input itself with the same strides (in place); otherwise nothing may overlap. Strides count
// floats.
#pragma once
#include <cstdint>

#include "engine/kernels/activation.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

/// For every row:  t = x + residual,  y = (t - mean(t)) / sqrt(var(t) + epsilon) * scale + bias
/// RMS norm:       t = x + residual,  y = t / sqrt(mean(t^2) + epsilon) * scale + bias
struct RowNormArgs {
  const float* x = nullptr;         // [rows, n]
  const float* residual = nullptr;  // [rows, n]; null: t = x
  float* sum = nullptr;             // [rows, n]: t is written here; null: not wanted. May be x or residual
  float* y = nullptr;               // [rows, n]; may be x, residual (never sum)
  const float* scale = nullptr;     // [n]; null: 1
  const float* bias = nullptr;      // [n]; null: 0
  float* mean = nullptr;            // [rows]; null: not wanted. Untouched by RMS norm
  float* inv_std = nullptr;         // [rows]: 1 / sqrt(... + epsilon); null: not wanted
  int64_t rows = 0, n = 0;
  int64_t x_stride = 0, residual_stride = 0, sum_stride = 0, y_stride = 0;  // between rows
  float epsilon = 1e-5f;
};

/// y = (x - mean) / sqrt(var + epsilon) * scale[c] + bias[c], statistics of every image and group of channels.
/// groups = channels is instance norm; groups = 1 normalises each image as a whole, with spatial = 1 it is layer norm. x and y are
/// [batch, channels, spatial]. Of doubles sums are blocked, but not compensated: a relative error of some 1e-16 for every 512 elements.
template <class T>
struct GroupNormArgsOf {
  const T* x = nullptr;
  T* y = nullptr;
  const T* scale = nullptr;                                  // [channels]; null: 1
  const T* bias = nullptr;                                   // [channels]; null: 0
  float* mean = nullptr;                                     // [batch, groups], float32 whatever T is; null: not wanted
  float* inv_std = nullptr;                                  // likewise
  int64_t batch = 0, channels = 0, groups = 1, spatial = 0;  // groups divides channels
  float epsilon = 1e-5f;
};
using GroupNormArgs = GroupNormArgsOf<float>;
using GroupNormArgsF64 = GroupNormArgsOf<double>;

enum class LineNorm : int32_t {
  kL1,         // y = x / sum |x|
  kL2,         // y = x / sqrt(sum x^2); of both, lines whose norm is 0 become zeros
  kDeviation,  // y = (x - mean) / (sqrt(mean((x - mean)^2)) + guard)
};

/// Where the parts of a loop nest of dimensions begin, innermost first: part i of extent[0] * extent[1] * ... Its functions have no symbols, for
/// every kernel set compiles them.
struct NestOffsets {
  static constexpr int kMost = 8;
  int32_t rank = 0;
  int64_t extent[kMost] = {}, stride[kMost] = {};

  [[gnu::always_inline]] inline int64_t count() const {
    int64_t parts = 1;
    for (int32_t d = 0; d < rank; ++d) parts *= extent[d];
    return parts;
  }
  [[gnu::always_inline]] inline int64_t at(int64_t i) const {
    int64_t offset = 0;
    for (int32_t d = 0; d < rank; ++d) {
      const int64_t rest = d + 1 < rank ? i / extent[d] : 0;
      offset += (i - rest * extent[d]) * stride[d];
      i = rest;
    }
    return offset;
  }
};

/// Every line by a number of its own, all of it computed in double and rounded once. Line l, column i has the elements
/// lines.at(l) + segments.at(s) + k * inner + i for every s and k < n. All sizes are positive.
template <class T>
struct LineNormArgsOf {
  const T* x = nullptr;
  T* y = nullptr;  // laid out as x
  LineNorm norm = LineNorm::kL2;
  double guard = 0;
  NestOffsets lines, segments;  // without dimensions there is one
  int64_t n = 0, inner = 1;
};
using LineNormArgs = LineNormArgsOf<float>;
using LineNormArgsF64 = LineNormArgsOf<double>;

/// y = activation(x * scale[c] + shift[c] + residual): batch norm once its statistics are known, with scale = gamma / sqrt(var +
/// epsilon) and shift = beta - mean * scale.
struct ChannelAffineArgs {
  const float* x = nullptr;
  float* y = nullptr;
  const float* scale = nullptr;  // [channels]
  const float* shift = nullptr;  // [channels]
  int64_t batch = 0, channels = 0, spatial = 0;
  // x and y are [batch][ceil(channels / lanes)][spatial][lanes]; padding lanes are written activation(0 + residual).
  bool blocked = false;
  ActivationArgs activation;
  const float* residual = nullptr;  // laid out like x; added after the rounding of x * scale + shift. Null: none. y may be it
};

/// y = x / (bias + alpha / size * sum of x^2 over the channels c - floor((size - 1) / 2) .. c + ceil((size - 1) /
/// 2))^beta, channels that do not exist left out. x and y are [batch, channels, spatial] and do not overlap.
struct LocalResponseArgs {
  const float* x = nullptr;
  float* y = nullptr;
  int64_t batch = 0, channels = 0, spatial = 0;
  int64_t size = 1;
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
};

/// The mean and (biased) variance of every channel of every image; batch norm in training merges the images' (all have as many
/// values). The mean is in two parts, so that merging loses nothing where it is large beside the deviation.
struct ChannelMomentsArgs {
  const float* x = nullptr;   // [batch, channels, spatial], or blocked like ChannelAffineArgs'
  float* moments = nullptr;   // [batch][3][channels, rounded up to whole blocks where blocked]: mean, what its rounding lost, variance
  int64_t batch = 0, channels = 0, spatial = 0;
  bool blocked = false;
};

struct NormKernels {
  TaskKernel<RowNormArgs> layer_norm;
  TaskKernel<RowNormArgs> rms_norm;
  TaskKernel<GroupNormArgs> group_norm;
  TaskKernel<GroupNormArgsF64> group_norm_f64;
  TaskKernel<LineNormArgs> line_norm;
  TaskKernel<LineNormArgsF64> line_norm_f64;
  TaskKernel<ChannelAffineArgs> channel_affine;
  TaskKernel<ChannelMomentsArgs> channel_moments;
  TaskKernel<LocalResponseArgs> local_response;
};

}  // namespace svengine::kernels
