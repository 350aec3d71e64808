// Normalisations by the formulas of norm.h. Means and variances are taken in double, in two passes.
#include "engine/kernels/norm.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

struct Moments {
  double mean, variance;
};

/// Of value(i), i < n.
template <class Value>
Moments moments_of(int64_t n, const Value& value) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) sum += value(i);
  const double mean = sum / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) squares += (value(i) - mean) * (value(i) - mean);
  return {mean, squares / static_cast<double>(n)};
}

int64_t row_items(const RowNormArgs& args) { return args.rows; }
int64_t row_scratch_bytes(const RowNormArgs& args) noexcept { return args.n * int64_t(sizeof(double)); }

/// y from the row's t = x + residual, which is also stored where that is wanted.
template <bool kRms>
void norm_row(const RowNormArgs& args, int64_t row, double* t) {
  const float* x = args.x + row * args.x_stride;
  const float* residual = args.residual ? args.residual + row * args.residual_stride : nullptr;
  double squares = 0;
  for (int64_t i = 0; i < args.n; ++i) {
    t[i] = double{x[i]} + (residual ? double{residual[i]} : 0);
    squares += t[i] * t[i];
  }
  if (args.sum)
    for (int64_t i = 0; i < args.n; ++i) args.sum[row * args.sum_stride + i] = static_cast<float>(t[i]);
  Moments m{0, squares / static_cast<double>(args.n)};
  if (!kRms) m = moments_of(args.n, [t](int64_t i) { return t[i]; });
  const double inv_std = 1 / std::sqrt(m.variance + args.epsilon);
  if (args.mean && !kRms) args.mean[row] = static_cast<float>(m.mean);
  if (args.inv_std) args.inv_std[row] = static_cast<float>(inv_std);
  for (int64_t i = 0; i < args.n; ++i) {
    const double scale = args.scale ? args.scale[i] : 1, bias = args.bias ? args.bias[i] : 0;
    args.y[row * args.y_stride + i] = static_cast<float>((t[i] - m.mean) * inv_std * scale + bias);
  }
}

template <bool kRms>
void row_range(const RowNormArgs& args, int64_t begin, int64_t end, void* scratch) {
  for (int64_t row = begin; row < end; ++row) norm_row<kRms>(args, row, static_cast<double*>(scratch));
}

template <class T>
int64_t group_items(const GroupNormArgsOf<T>& args) {
  return args.batch * args.groups;
}

template <class T>
void group_range(const GroupNormArgsOf<T>& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const int64_t channels = args.channels / args.groups, n = channels * args.spatial;
    const T* x = args.x + item * n;
    const Moments m = moments_of(n, [x](int64_t i) { return double{x[i]}; });
    const double inv_std = 1 / std::sqrt(m.variance + args.epsilon);
    if (args.mean) args.mean[item] = static_cast<float>(m.mean);
    if (args.inv_std) args.inv_std[item] = static_cast<float>(inv_std);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t c = item % args.groups * channels + i / args.spatial;
      const double scale = args.scale ? args.scale[c] : 1, bias = args.bias ? args.bias[c] : 0;
      args.y[item * n + i] = static_cast<T>((x[i] - m.mean) * inv_std * scale + bias);
    }
  }
}

template <class T>
int64_t line_items(const LineNormArgsOf<T>& args) {
  return args.lines.count() * args.inner;
}

template <class T>
void line_range(const LineNormArgsOf<T>& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const int64_t line = item / args.inner, count = args.segments.count() * args.n;
    const int64_t start = args.lines.at(line) + item % args.inner;
    const auto at = [&](int64_t i) { return start + args.segments.at(i / args.n) + i % args.n * args.inner; };
    const auto value = [&](int64_t i) { return double{args.x[at(i)]}; };
    double sum = 0;
    Moments m{0, 0};
    if (args.norm == LineNorm::kDeviation) m = moments_of(count, value);
    else
      for (int64_t i = 0; i < count; ++i) sum += args.norm == LineNorm::kL1 ? std::fabs(value(i)) : value(i) * value(i);
    const double divisor = args.norm == LineNorm::kDeviation ? std::sqrt(m.variance) + args.guard
                           : args.norm == LineNorm::kL2      ? std::sqrt(sum)
                                                             : sum;
    const bool zeros = args.norm != LineNorm::kDeviation && divisor == 0;
    for (int64_t i = 0; i < count; ++i) args.y[at(i)] = zeros ? T(0) : static_cast<T>((value(i) - m.mean) / divisor);
  }
}

/// A channel of an image; blocked layouts have those of padding lanes too.
template <class Args>
int64_t channel_items(const Args& args) {
  return args.batch * stored_channels(args.blocked, args.channels);
}

void affine_range(const ChannelAffineArgs& args, int64_t begin, int64_t end, void*) {
  const int64_t stored = stored_channels(args.blocked, args.channels);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t c = item % stored;
    const Plane plane = plane_of(args.blocked, item / stored, c, args.channels, args.spatial);
    for (int64_t i = 0; i < args.spatial; ++i) {
      const int64_t at = plane.start + i * plane.step;
      const float normed = c < args.channels ? static_cast<float>(double{args.x[at]} * args.scale[c] + args.shift[c]) : 0;
      const double value = double{normed} + (args.residual ? double{args.residual[at]} : 0);
      args.y[at] = static_cast<float>(reference_activation(value, args.activation));
    }
  }
}

void moments_range(const ChannelMomentsArgs& args, int64_t begin, int64_t end, void*) {
  const int64_t stored = stored_channels(args.blocked, args.channels);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t image = item / stored, c = item % stored;
    const Plane plane = plane_of(args.blocked, image, c, args.channels, args.spatial);
    const Moments m = moments_of(args.spatial, [&](int64_t i) { return double{args.x[plane.start + i * plane.step]}; });
    const auto mean = static_cast<float>(m.mean);
    float* to = args.moments + image * 3 * stored + c;
    to[0] = mean;
    to[stored] = std::isfinite(mean) ? static_cast<float>(m.mean - mean) : 0;
    to[2 * stored] = static_cast<float>(m.variance);
  }
}

int64_t response_items(const LocalResponseArgs& args) { return args.batch * args.channels * args.spatial; }

void response_range(const LocalResponseArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t c = i / args.spatial % args.channels;
    const int64_t first = std::max(-c, -((args.size - 1) / 2)), last = std::min(args.channels - 1 - c, args.size / 2);
    double squares = 0;
    for (int64_t d = first; d <= last; ++d) squares += double{args.x[i + d * args.spatial]} * args.x[i + d * args.spatial];
    const double base = args.bias + double{args.alpha} / static_cast<double>(args.size) * squares;
    args.y[i] = static_cast<float>(args.x[i] / std::pow(base, double{args.beta}));
  }
}

}  // namespace

extern const NormKernels norm_kernels;
constinit const NormKernels norm_kernels{by_items<RowNormArgs, row_items, row_range<false>, 4>(row_scratch_bytes),
                                         by_items<RowNormArgs, row_items, row_range<true>, 4>(row_scratch_bytes),
                                         by_items<GroupNormArgs, group_items<float>, group_range<float>, 1>(),
                                         by_items<GroupNormArgsF64, group_items<double>, group_range<double>, 1>(),
                                         by_items<LineNormArgs, line_items<float>, line_range<float>, 1>(),
                                         by_items<LineNormArgsF64, line_items<double>, line_range<double>, 1>(),
                                         by_items<ChannelAffineArgs, channel_items<ChannelAffineArgs>, affine_range, 1>(),
                                         by_items<ChannelMomentsArgs, channel_items<ChannelMomentsArgs>, moments_range, 1>(),
                                         by_items<LocalResponseArgs, response_items, response_range, 4096>()};

}  // namespace svengine::kernels::reference
