#include "validate/quantize/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/graph/passes/match.h"

namespace svengine::validate {
namespace {

constexpr double kMostWeight = 127;
constexpr double kMostBias = 1 << 30;  // half of what int32 holds: the sums come on top

/// The dimensions before, at, and behind an axis.
struct AroundAxis {
  int64_t outer = 1, along = 1, inner = 1;
};
AroundAxis around(const Dims& dims, int64_t axis) {
  AroundAxis out;
  if (axis < 0) return out.inner = element_count(dims), out;
  for (size_t i = 0; i < dims.size(); ++i)
    (static_cast<int64_t>(i) < axis ? out.outer : static_cast<int64_t>(i) == axis ? out.along : out.inner) *= dims[i];
  return out;
}

}  // namespace

QuantizationParameters parameters_for(const Range& range, DType type) {
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0), least = type == DType::i8 ? -128 : 0;
  const auto scale = static_cast<float>((high - low) / 255);
  // Ranges of nothing but zeros, and of numbers that float32 only just holds.
  if (!(scale >= std::numeric_limits<float>::min())) return {1, static_cast<int>(least)};
  return {scale, static_cast<int>(std::clamp(std::nearbyint(least - low / static_cast<double>(scale)), least, least + 255))};
}

Tensor zero_tensor(int zero, DType type) {
  auto byte = std::make_shared<int8_t>(static_cast<int8_t>(zero));  // the same bits for uint8
  return Tensor::wrap(type, {}, byte.get(), byte);
}

Result<QuantizedWeights> quantize_weights(const Tensor& weights, int64_t axis, std::span<const double> least) {
  SV_ASSIGN(const Tensor from, weights.is_aligned() ? Result<Tensor>(weights) : Result<Tensor>(weights.aligned_copy()));
  const AroundAxis a = around(weights.dims(), axis);
  const std::span<const float> x = from.data<float>();
  std::vector<double> largest(static_cast<size_t>(a.along));
  for (int64_t o = 0, at = 0; o < a.outer; ++o)
    for (int64_t c = 0; c < a.along; ++c)
      for (int64_t i = 0; i < a.inner; ++i, ++at) {
        const double size = std::abs(static_cast<double>(x[static_cast<size_t>(at)]));
        if (!std::isfinite(size)) return error("element {} of the weights is not finite: they cannot be quantised", at);
        largest[static_cast<size_t>(c)] = std::max(largest[static_cast<size_t>(c)], size);
      }
  QuantizedWeights out;
  for (size_t c = 0; c < largest.size(); ++c) {
    const double wanted = std::max(largest[c] / kMostWeight, c < least.size() ? least[c] : 0);
    const auto scale = static_cast<float>(wanted);
    out.scales.push_back(scale >= std::numeric_limits<float>::min() ? scale : 1.0f);
  }
  SV_ASSIGN(MutableTensor values, Tensor::allocate(DType::i8, weights.dims()));
  auto* to = reinterpret_cast<int8_t*>(values.raw());
  for (int64_t o = 0, at = 0; o < a.outer; ++o)
    for (int64_t c = 0; c < a.along; ++c)
      for (int64_t i = 0; i < a.inner; ++i, ++at) {
        const double q = std::nearbyint(static_cast<double>(x[static_cast<size_t>(at)]) / static_cast<double>(out.scales[static_cast<size_t>(c)]));
        to[at] = static_cast<int8_t>(std::clamp(q, -kMostWeight, kMostWeight));
      }
  out.values = std::move(values);
  return out;
}

Result<Tensor> quantize_bias(const Tensor& bias, float input_scale, std::span<const float> scales) {
  const std::vector<double> x = as_doubles(bias);
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::i32, bias.dims()));
  for (size_t i = 0; i < x.size(); ++i) {
    const float step = input_scale * scales[scales.size() == 1 ? 0 : i];  // float32, as the scale is in the file
    const double q = std::nearbyint(x[i] / static_cast<double>(step));
    if (!(std::abs(q) <= 1.5 * kMostBias)) return Tensor();  // more than kMostBias: of weights that another product shares
    out.data<int32_t>()[i] = static_cast<int32_t>(q);
  }
  return Tensor(out);
}

std::vector<double> least_scales(const Tensor& bias, float input_scale) {
  std::vector<double> out = as_doubles(bias);
  for (double& x : out) x = std::isfinite(x) ? std::abs(x) / kMostBias / static_cast<double>(input_scale) : 0;
  return out;
}

}  // namespace svengine::validate
