#include "engine/kernels/reference/conv_winograd.h"

#include <array>
#include <cmath>

#include "engine/kernels/reference/activation.h"

namespace svengine::kernels {

namespace {

// Magnitudes of the matrices' elements.
constexpr double kInputs[6][6] = {{4, 0, 5, 0, 1, 0}, {0, 4, 4, 1, 1, 0}, {0, 4, 4, 1, 1, 0},
                                  {0, 2, 1, 2, 1, 0}, {0, 2, 1, 2, 1, 0}, {0, 4, 0, 5, 0, 1}};
constexpr double kWeights[6][3] = {{1, 0, 0}, {1, 1, 1}, {1, 1, 1}, {1, 2, 4}, {1, 2, 4}, {0, 0, 1}};
constexpr double kSums[4][6] = {{6, 4, 4, 1, 1, 0}, {0, 4, 4, 2, 2, 0}, {0, 4, 4, 4, 4, 0}, {0, 4, 4, 8, 8, 24}};
constexpr double kSumScale = 1.0 / 576;
constexpr double kGradients[6][4] = {{1, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 2, 4, 8}, {1, 2, 4, 8}, {0, 0, 0, 1}};
constexpr double kFold[3][6] = {
    {1. / 4, 1. / 6, 1. / 6, 1. / 24, 1. / 24, 0}, {0, 1. / 6, 1. / 6, 1. / 12, 1. / 12, 0}, {0, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1}};

using Tile = std::array<std::array<double, 6>, 6>;

/// rows x columns of `from` between |matrix| and its transpose.
template <size_t kOut, size_t kIn>
Tile transform(const double (&matrix)[kOut][kIn], const Tile& from) {
  Tile half{}, out{};
  for (size_t i = 0; i < kOut; ++i)
    for (size_t j = 0; j < kIn; ++j)
      for (size_t k = 0; k < kIn; ++k) half[i][j] += matrix[i][k] * from[k][j];
  for (size_t i = 0; i < kOut; ++i)
    for (size_t j = 0; j < kOut; ++j)
      for (size_t k = 0; k < kIn; ++k) out[i][j] += half[i][k] * matrix[j][k];
  return out;
}

/// |B^T| |d| |B| of plane z of a channel's image at the tile whose first output is (y, x).
Tile inputs_of(const ConvShape& s, const float* image, int64_t z, int64_t y, int64_t x) {
  Tile d{};
  if (z < 0 || z >= s.in.depth) return d;
  image += z * s.in.height * s.in.width;
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 6; ++j) {
      const int64_t row = y + i - s.pad.height, column = x + j - s.pad.width;
      if (row >= 0 && row < s.in.height && column >= 0 && column < s.in.width)
        d[size_t(i)][size_t(j)] = std::fabs(double{image[row * s.in.width + column]});
    }
  return transform(kInputs, d);
}

Tile weights_of(const float* weights) {
  Tile g{};
  for (size_t tap = 0; tap < 9; ++tap) g[tap / 3][tap % 3] = std::fabs(double{weights[tap]});
  return transform(kWeights, g);
}

}  // namespace

ReferenceConv reference_winograd(const ConvShape& s, const float* input, const float* weights, const float* bias,
                                 const float* residual, const ActivationArgs& activation) {
  ReferenceConv result = reference_conv(s, input, weights, bias, residual, {});
  std::vector<Tile> transformed;
  const int64_t planes = s.kernel.depth, channels = s.in_channels * planes;  // those of the sum
  for (int64_t i = 0; i < s.out_channels * channels; ++i) transformed.push_back(weights_of(weights + i * 9));
  const double rounding = static_cast<double>(channels + 18) * 0x1p-24 * (1 + 0x1p-10);
  std::vector<Tile> inputs(static_cast<size_t>(channels));
  for (int64_t place = 0; place < s.batch * s.out.depth; ++place)
    for (int64_t y = 0; y < s.out.height; y += 4)
      for (int64_t x = 0; x < s.out.width; x += 4) {
        const int64_t n = place / s.out.depth, z = place % s.out.depth;
        for (int64_t i = 0; i < channels; ++i)
          inputs[size_t(i)] = inputs_of(s, input + (n * s.in_channels + i / planes) * s.in.depth * s.in.height * s.in.width,
                                        z * s.stride.depth - s.pad.depth + i % planes * s.dilation.depth, y, x);
        for (int64_t o = 0; o < s.out_channels; ++o) {
          Tile sum{};
          for (size_t i = 0; i < inputs.size(); ++i)
            for (size_t f = 0; f < 36; ++f)
              sum[f / 6][f % 6] += inputs[i][f / 6][f % 6] * transformed[size_t(o) * inputs.size() + i][f / 6][f % 6];
          const Tile magnitude = transform(kSums, sum);
          for (int64_t i = 0; i < 4 && y + i < s.out.height; ++i)
            for (int64_t j = 0; j < 4 && x + j < s.out.width; ++j) {
              const auto at = size_t((((n * s.out_channels + o) * s.out.depth + z) * s.out.height + y + i) * s.out.width + x + j);
              const double others = (bias ? std::fabs(bias[o]) : 0.0) + (residual ? std::fabs(residual[at]) : 0.0);
              const double error = rounding * (magnitude[size_t(i)][size_t(j)] * kSumScale + others);
              const double value = result.output[at];
              result.output[at] = reference_activation(value, activation);
              result.error[at] = activation_error_bound(value, result.output[at], error, activation);
            }
        }
      }
  return result;
}

ReferenceGradient reference_winograd_weight_grad(const ConvWeightGradArgs& args, int64_t lanes) {
  const ConvShape& s = args.shape;
  ReferenceGradient result = reference_conv_weight_grad(args, lanes);
  const int64_t wide = (s.out.width + 3) / 4, of_image = (s.out.height + 3) / 4 * wide, tiles = s.batch * of_image;
  // |element| of a blocked image, 0 outside.
  const auto at = [&](const float* data, const Extent& e, int64_t channels, int64_t channel, int64_t n, int64_t y, int64_t x) {
    if (y < 0 || y >= e.height || x < 0 || x >= e.width) return 0.0;
    const int64_t block = n * ((channels + lanes - 1) / lanes) + channel / lanes;
    return std::fabs(double{data[((block * e.height + y) * e.width + x) * lanes + channel % lanes]});
  };
  const auto transformed = [&](const auto& matrix, int64_t size, const float* data, const Extent& e, int64_t channels, int64_t shift_y,
                               int64_t shift_x) {
    std::vector<Tile> all;
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t tile = 0; tile < tiles; ++tile) {
        const int64_t y = tile % of_image / wide * 4 - shift_y, x = tile % of_image % wide * 4 - shift_x;
        Tile t{};
        for (int64_t i = 0; i < size; ++i)
          for (int64_t j = 0; j < size; ++j) t[size_t(i)][size_t(j)] = at(data, e, channels, channel, tile / of_image, y + i, x + j);
        all.push_back(transform(matrix, t));
      }
    return all;
  };
  const std::vector<Tile> inputs = transformed(kInputs, 6, args.input, s.in, s.in_channels, s.pad.height, s.pad.width);
  const std::vector<Tile> gradients = transformed(kGradients, 4, args.dy, s.out, s.out_channels, 0, 0);
  const double rounding = static_cast<double>(tiles + 24) * 0x1p-24 * (1 + 0x1p-10);
  for (int64_t o = 0; o < s.out_channels; ++o)
    for (int64_t i = 0; i < s.in_channels; ++i) {
      Tile sum{};
      for (int64_t tile = 0; tile < tiles; ++tile)
        for (size_t f = 0; f < 36; ++f)
          sum[f / 6][f % 6] += inputs[size_t(i * tiles + tile)][f / 6][f % 6] * gradients[size_t(o * tiles + tile)][f / 6][f % 6];
      const Tile magnitude = transform(kFold, sum);
      for (size_t tap = 0; tap < 9; ++tap)
        result.error[size_t(o * s.in_channels + i) * 9 + tap] = rounding * magnitude[tap / 3][tap % 3];
    }
  return result;
}

}  // namespace svengine::kernels
