#include "engine/kernels/reference/gradient.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/reference/formulas.h"

namespace svengine::kernels {
namespace {

constexpr double kRounding = 0x1p-24;

/// Adds v, and the rounding of that many operations on it.
void add(ReferenceGradient& to, int64_t at, double v, double operations) {
  to.value[static_cast<size_t>(at)] += v;
  to.error[static_cast<size_t>(at)] += std::fabs(v) * operations * kRounding;
}

ReferenceGradient zeros(int64_t count) {
  return {std::vector<double>(static_cast<size_t>(count)), std::vector<double>(static_cast<size_t>(count))};
}

int64_t volume(const Extent& e) { return e.depth * e.height * e.width; }
Extent place(int64_t i, const Extent& e) { return {i / (e.width * e.height), i / e.width % e.height, i % e.width}; }

/// The input position of tap t for output o, or -1.
int64_t input_of(const PoolShape& s, int64_t o, int64_t t) {
  const Extent out = place(o, s.out), tap = place(t, s.kernel);
  const int64_t z = out.depth * s.stride.depth - s.pad.depth + tap.depth * s.dilation.depth;
  const int64_t y = out.height * s.stride.height - s.pad.height + tap.height * s.dilation.height;
  const int64_t x = out.width * s.stride.width - s.pad.width + tap.width * s.dilation.width;
  const bool inside = z >= 0 && z < s.in.depth && y >= 0 && y < s.in.height && x >= 0 && x < s.in.width;
  return inside ? (z * s.in.height + y) * s.in.width + x : -1;
}

/// Positions that an average counts for output o.
double count_of(const PoolGradArgs& args, int64_t o) {
  PoolShape s = args.shape;
  if (args.count_padding) {
    // The padded image as an image of its own.
    s.in = {s.in.depth + s.pad.depth + s.pad_end.depth, s.in.height + s.pad.height + s.pad_end.height,
            s.in.width + s.pad.width + s.pad_end.width};
    s.pad = {0, 0, 0};
  }
  double count = 0;
  for (int64_t t = 0; t < volume(s.kernel); ++t) count += input_of(s, o, t) >= 0;
  return count;
}

}  // namespace

double reference_slope(GradientOf of, double v, double alpha, [[maybe_unused]] double beta) {
  switch (of) {
#define SVENGINE_ACTIVATION(Name, name, from, steepest, accuracy, forward, slope) \
  SVENGINE_WITH_SLOPE_##from(case GradientOf::k##Name : return slope;)
#include "engine/kernels/activation.inc"
  }
  return 0;
}

double reference_gradient(GradientOf of, double dy, double v, double alpha, double beta) {
  const double slope = reference_slope(of, v, alpha, beta);
  const bool selects = of == GradientOf::kRelu || of == GradientOf::kClip || of == GradientOf::kHardSigmoid;
  return selects && slope == 0 ? 0 : dy * slope;
}

ReferenceGradient reference_gather_grad(const GatherGradArgs& args) {
  ReferenceGradient dx = zeros(args.outer * args.extent * args.inner);
  for (int64_t o = 0; o < args.outer; ++o)
    for (int64_t k = 0; k < args.count; ++k) {
      int64_t row =
          args.index_bytes == 8 ? static_cast<const int64_t*>(args.indices)[k] : static_cast<const int32_t*>(args.indices)[k];
      if (row < 0) row += args.extent;
      for (int64_t i = 0; i < args.inner; ++i)
        add(dx, (o * args.extent + row) * args.inner + i, args.dy[(o * args.count + k) * args.inner + i],
            static_cast<double>(args.count));
    }
  return dx;
}

ReferenceGradient reference_softmax_grad(const SoftmaxGradArgs& args) {
  ReferenceGradient dx = zeros(args.outer * args.n * args.inner);
  for (int64_t o = 0; o < args.outer; ++o)
    for (int64_t i = 0; i < args.inner; ++i) {
      const auto at = [&](int64_t j) { return (o * args.n + j) * args.inner + i; };
      double sum = 0, magnitude = 0;
      for (int64_t j = 0; j < args.n; ++j) {
        const double share = args.log ? double(args.dy[at(j)]) : double(args.dy[at(j)]) * args.y[at(j)];
        sum += share, magnitude += std::fabs(share);
      }
      for (int64_t j = 0; j < args.n; ++j) {
        const double y = args.y[at(j)], dy = args.dy[at(j)], weight = args.log ? std::exp(y) : y;
        const auto k = static_cast<size_t>(at(j));
        dx.value[k] = args.log ? dy - weight * sum : weight * (dy - sum);
        dx.error[k] = 8 * kRounding * (args.log ? std::fabs(dy) + weight * magnitude : weight * (std::fabs(dy) + magnitude));
      }
    }
  return dx;
}

ReferenceGradient reference_pool_grad(const PoolGradArgs& args) {
  const PoolShape& s = args.shape;
  const int64_t in = volume(s.in), out = volume(s.out), taps = volume(s.kernel);
  ReferenceGradient dx = zeros(s.batch * s.channels * in);
  for (int64_t plane = 0; plane < s.batch * s.channels; ++plane)
    for (int64_t o = 0; o < out; ++o) {
      const double dy = args.dy[plane * out + o];
      int64_t best = -1;
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t at = input_of(s, o, t);
        if (at < 0) continue;
        if (args.kind == PoolKind::kAverage) {
          add(dx, plane * in + at, dy / count_of(args, o), static_cast<double>(taps) + 4);
          continue;
        }
        const float* x = args.x + plane * in;
        if (best < 0 || x[at] > x[best] || (std::isnan(x[at]) && !std::isnan(x[best]))) best = at;
      }
      if (best >= 0) add(dx, plane * in + best, dy, static_cast<double>(taps));
    }
  return dx;
}

ReferenceGradient reference_fold(const FoldArgs& args) {
  const PoolShape& s = args.shape;
  const int64_t in = volume(s.in), out = volume(s.out), taps = volume(s.kernel);
  ReferenceGradient dx = zeros(s.batch * s.channels * in);
  for (int64_t plane = 0; plane < s.batch * s.channels; ++plane)
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t o = 0; o < out; ++o)
        if (const int64_t at = input_of(s, o, t); at >= 0)
          add(dx, plane * in + at, args.columns[(plane * taps + t) * out + o], static_cast<double>(taps));
  return dx;
}

ReferenceGradient reference_conv_weight_grad(const ConvWeightGradArgs& args, int64_t lanes) {
  const ConvShape& c = args.shape;
  const PoolShape s{c.batch, c.in_channels, c.in, c.out, c.kernel, c.stride, c.dilation, c.pad, {0, 0, 0}};
  const int64_t in = volume(s.in), out = volume(s.out), taps = volume(s.kernel);
  const auto blocked = [&](int64_t n, int64_t channel, int64_t channels, int64_t size, int64_t at) {
    return ((n * ((channels + lanes - 1) / lanes) + channel / lanes) * size + at) * lanes + channel % lanes;
  };
  // The innermost loop walks the output channels of a pixel, which lie side by side in this copy: tests emulate it.
  std::vector<double> dy;
  for (int64_t pixel = 0; pixel < c.batch * out; ++pixel)
    for (int64_t o = 0; o < c.out_channels; ++o) dy.push_back(args.dy[blocked(pixel / out, o, c.out_channels, out, pixel % out)]);
  const int64_t inputs = c.in_channels / c.groups, outputs = c.out_channels / c.groups;  // of a group
  const double roundings = static_cast<double>(c.batch * out + 4);
  ReferenceGradient dw = zeros(c.out_channels * inputs * taps);
  for (int64_t i = 0; i < c.in_channels; ++i)
    for (int64_t t = 0; t < taps; ++t) {
      std::vector<double> sums(size_t(outputs), 0), magnitudes(size_t(outputs), 0);
      for (int64_t p = 0; p < out; ++p) {
        const int64_t at = input_of(s, p, t);
        if (at < 0) continue;
        for (int64_t n = 0; n < c.batch; ++n) {
          const double x = args.input[args.plain_input ? (n * c.in_channels + i) * in + at : blocked(n, i, c.in_channels, in, at)];
          const double* gradients = dy.data() + (n * out + p) * c.out_channels + i / inputs * outputs;
          for (size_t o = 0; o < size_t(outputs); ++o) {
            sums[o] += x * gradients[o];
            magnitudes[o] += std::fabs(x * gradients[o]);
          }
        }
      }
      for (int64_t o = 0; o < outputs; ++o) {
        const int64_t to = ((i / inputs * outputs + o) * inputs + i % inputs) * taps + t;
        dw.value[size_t(to)] = sums[size_t(o)];
        dw.error[size_t(to)] = magnitudes[size_t(o)] * roundings * kRounding;
      }
    }
  return dw;
}

std::vector<float> reference_unfold(const UnfoldArgs& args) {
  const PoolShape& s = args.shape;
  std::vector<float> columns;
  for (int64_t plane = 0; plane < s.batch * s.channels; ++plane)
    for (int64_t t = 0; t < volume(s.kernel); ++t)
      for (int64_t o = 0; o < volume(s.out); ++o) {
        const int64_t at = input_of(s, o, t);
        columns.push_back(at < 0 ? 0.0f : args.x[plane * volume(s.in) + at]);
      }
  return columns;
}

ReferenceRowNormGrad reference_row_norm_grad(const RowNormGradArgs& args) {
  ReferenceRowNormGrad r{zeros(args.rows * args.n), zeros(args.n), zeros(args.n)};
  const auto n = static_cast<double>(args.n);
  for (int64_t row = 0; row < args.rows; ++row) {
    const double mean = args.mean[row], inv_std = args.inv_std[row];
    const auto h = [&](int64_t i) { return (args.x[row * args.n + i] - mean) * inv_std; };
    const auto g = [&](int64_t i) { return double(args.dy[row * args.n + i]) * args.scale[i]; };
    double sum = 0, products = 0, magnitude = 0, product_magnitude = 0;
    for (int64_t i = 0; i < args.n; ++i) {
      sum += g(i), products += g(i) * h(i);
      magnitude += std::fabs(g(i)), product_magnitude += std::fabs(g(i) * h(i));
      add(r.dscale, i, args.dy[row * args.n + i] * h(i), static_cast<double>(args.rows) + 4);
      add(r.dbias, i, args.dy[row * args.n + i], static_cast<double>(args.rows) + 4);
    }
    for (int64_t i = 0; i < args.n; ++i) {
      const auto k = static_cast<size_t>(row * args.n + i);
      r.dx.value[k] = inv_std * (g(i) - sum / n - h(i) * products / n);
      r.dx.error[k] = 12 * kRounding * inv_std * (std::fabs(g(i)) + magnitude / n + std::fabs(h(i)) * product_magnitude / n);
    }
  }
  return r;
}

}  // namespace svengine::kernels
