// Tables for Resize, by the formulas of the ONNX operator's specification (opset 19) and its reference implementation.
#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/kernels/data_prepare.h"

namespace svengine::kernels {

namespace {

struct Source {
  double position;
  bool exists;
};

/// The length whose corners are aligned with those of the input: the output's, as in PyTorch and ONNX Runtime; but that of an axis which shrinks is
/// in * scale, no whole number, in ONNX's tests.
double aligned_length(const ResizeAxis& axis) {
  const double out = static_cast<double>(axis.out), length = static_cast<double>(axis.in) * axis.scale;
  return axis.scale < 1 && length - out > 1e-6 ? length : out;
}

/// x / scale. Where the scale is that of two sizes, x in / out is rounded once: 9 * 14 / 18 is 7, and 9 / (18. / 14) a little less.
template <class T>
T unscaled(const ResizeAxis& axis, T x) {
  const double out = static_cast<double>(axis.out);
  const bool by_sizes = !axis.scale_is_float && std::fabs(static_cast<double>(axis.in) * axis.scale - out) <= out * 0x1p-50;
  return by_sizes ? x * static_cast<T>(axis.in) / static_cast<T>(axis.out) : x / static_cast<T>(axis.scale);
}

/// T: what the formulas are computed in.
template <class T>
Source source_of(const ResizeAxis& axis, int64_t j) {
  const T x = static_cast<T>(j), in = static_cast<T>(axis.in), out = static_cast<T>(axis.out), half = T(0.5);
  switch (axis.coordinate) {
    case ResizeCoordinate::kHalfPixel:
      return {unscaled(axis, x + half) - half, true};
    case ResizeCoordinate::kHalfPixelSymmetric: {
      const T adjustment = out / (static_cast<T>(axis.scale) * in);
      return {in / 2 * (1 - adjustment) + unscaled(axis, x + half) - half, true};
    }
    case ResizeCoordinate::kPytorchHalfPixel:
      return {axis.out > 1 ? unscaled(axis, x + half) - half : 0, true};
    case ResizeCoordinate::kAlignCorners:
      return {axis.out > 1 ? x * (in - 1) / static_cast<T>(aligned_length(axis) - 1) : 0, true};
    case ResizeCoordinate::kAsymmetric:
      return {unscaled(axis, x), true};
    case ResizeCoordinate::kTfHalfPixelForNn:  // axes that keep their size (batch, channels) are not shifted, as in ONNX Runtime
      return {axis.scale == 1 && axis.in == axis.out ? x : unscaled(axis, x + half), true};
    case ResizeCoordinate::kTfCropAndResize: {
      const T begin = static_cast<T>(axis.roi_begin), end = static_cast<T>(axis.roi_end);
      const T position = axis.out > 1 ? begin * (in - 1) + x * (end - begin) * (in - 1) / (out - 1) : half * (begin + end) * (in - 1);
      return {position, position >= 0 && position <= in - 1};
    }
  }
  return {0, false};
}

double nearest(double x, ResizeNearest rounding) {
  switch (rounding) {
    case ResizeNearest::kFloor:
      return std::floor(x);
    case ResizeNearest::kCeil:
      return std::ceil(x);
    case ResizeNearest::kRoundPreferFloor:
      return std::ceil(x - 0.5);
    case ResizeNearest::kRoundPreferCeil:
      return std::floor(x + 0.5);
  }
  return x;
}

// Tables of a filter that is nonzero within `radius` of its centre. When shrinking with antialias the filter is
// widened by 1 / scale; its weights are then normalised, as they are when taps outside the source are excluded.
ResampleTables filter_tables(const ResizeAxis& axis, double radius, bool antialias, bool exclude_outside,
                             const std::function<double(double)>& filter) {
  const double filter_scale = antialias ? std::min(1.0, axis.scale) : 1.0;
  const int32_t taps = static_cast<int32_t>(2 * std::ceil(radius / filter_scale));
  const bool normalise = exclude_outside || filter_scale < 1;
  ResampleTables tables{taps, std::vector<int32_t>(static_cast<size_t>(taps * axis.out)),
                        std::vector<float>(static_cast<size_t>(taps * axis.out)),
                        std::vector<double>(static_cast<size_t>(taps * axis.out))};
  for (int64_t j = 0; j < axis.out; ++j) {
    const Source source = source_of<double>(axis, j);
    const int64_t first = static_cast<int64_t>(std::floor(source.position)) - taps / 2 + 1;
    std::vector<double> weights;
    double sum = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const bool outside = first + t < 0 || first + t >= axis.in;
      weights.push_back(
          exclude_outside && outside ? 0 : filter((static_cast<double>(first + t) - source.position) * filter_scale));
      sum += weights.back();
    }
    for (int64_t t = 0; t < taps; ++t) {
      const size_t at = static_cast<size_t>(t * axis.out + j);
      tables.index[at] = source.exists ? static_cast<int32_t>(std::clamp<int64_t>(first + t, 0, axis.in - 1)) : -1;
      tables.exact[at] = normalise ? weights[static_cast<size_t>(t)] / sum : weights[static_cast<size_t>(t)];
      tables.weight[at] = static_cast<float>(tables.exact[at]);
    }
  }
  return tables;
}

}  // namespace

std::vector<int32_t> nearest_map(const ResizeAxis& axis, ResizeNearest rounding) {
  std::vector<int32_t> map;
  for (int64_t j = 0; j < axis.out; ++j) {
    const Source source = axis.scale_is_float ? source_of<float>(axis, j) : source_of<double>(axis, j);
    const double position = std::clamp(nearest(source.position, rounding), 0.0, static_cast<double>(axis.in - 1));
    map.push_back(source.exists ? static_cast<int32_t>(position) : -1);
  }
  return map;
}

ResampleTables linear_tables(const ResizeAxis& axis, bool antialias) {
  return filter_tables(axis, 1, antialias, false, [](double x) { return std::max(0.0, 1 - std::fabs(x)); });
}

// Keys' cubic convolution.
ResampleTables cubic_tables(const ResizeAxis& axis, double coefficient, bool exclude_outside, bool antialias) {
  return filter_tables(axis, 2, antialias, exclude_outside, [a = coefficient](double x) {
    x = std::fabs(x);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0.0;
  });
}

}  // namespace svengine::kernels
