// Scales and zero points of 8-bit values: x is (q - zero) * scale.
#pragma once
#include <span>
#include <vector>

#include "validate/quantize/ranges.h"

namespace svengine::validate {

struct QuantizationParameters {
  float scale = 1;
  int zero = 0;
};

/// The 256 values of `type` (int8 or uint8) over the range, widened to hold 0, which is exact.
QuantizationParameters parameters_for(const Range& range, DType type);

/// Zero point as a scalar of that type, int8 or uint8.
Tensor zero_tensor(int zero, DType type);

struct QuantizedWeights {
  Tensor values;              // int8, of the weights' shape, in [-127, 127]
  std::vector<float> scales;  // one for each index of `axis`, or one
};

/// Symmetric: the largest absolute value, of every index of `axis` (< 0: of all), becomes 127. A scale is at least that of `least`
/// (of as many numbers, or none). Weights are float32 and finite, whatever their alignment; an error says which one is not.
Result<QuantizedWeights> quantize_weights(const Tensor& weights, int64_t axis, std::span<const double> least = {});

/// A float32 vector in int32, by scale input_scale * scales[i] (or scales[0]); an undefined tensor where a number does not fit.
Result<Tensor> quantize_bias(const Tensor& bias, float input_scale, std::span<const float> scales);

/// The smallest scales of weights by which quantize_bias() has room to spare.
std::vector<double> least_scales(const Tensor& bias, float input_scale);

}  // namespace svengine::validate
