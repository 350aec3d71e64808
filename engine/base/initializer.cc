#include "engine/base/initializer.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace svengine {
namespace {

bool in_float_range(double x) { return std::isfinite(x) && std::abs(x) <= FLT_MAX; }

Status check(const Initializer& how) {
  using Kind = Initializer::Kind;
  for (double x : {how.mean, how.deviation, how.low, how.high, how.gain})
    if (!in_float_range(x)) return error("an initialiser's parameters must be finite float32 values, not {}", x);
  if (how.deviation < 0) return error("an initialiser's standard deviation cannot be negative: {}", how.deviation);
  if (how.gain < 0) return error("an initialiser's gain cannot be negative: {}", how.gain);
  if (how.kind == Kind::uniform && how.low > how.high)
    return error("initial values from {} to {}: the first is above the second", how.low, how.high);
  if (how.kind == Kind::uniform && !in_float_range(how.high - how.low))
    return error("initial values from {} to {}: the range is too wide for float32", how.low, how.high);
  if (how.kind == Kind::truncated_normal) {
    if (!(static_cast<float>(how.deviation) > 0))
      return error("a truncated normal distribution needs a standard deviation above 0, not {}", how.deviation);
    if (!(static_cast<float>(how.low) < static_cast<float>(how.high)) || how.mean < how.low || how.mean > how.high)
      return error("a truncated normal distribution needs low <= mean <= high and low < high, not low {}, mean {}, high {}",
                   how.low, how.mean, how.high);
  }
  return {};
}

void fill_even(const RandomStream& stream, double bound, std::span<float> out) {
  fill_uniform(stream, 0, static_cast<float>(-bound), static_cast<float>(bound), out);
}

}  // namespace

Result<Fans> fans_of(const Dims& dims, WeightLayout layout) {
  if (dims.size() < 2) return error("shape {} has no fan-in and fan-out: a weight has at least 2 dimensions", to_string(dims));
  if (element_count(dims) == 0) return error("shape {} has no fan-in and fan-out: a dimension is 0", to_string(dims));
  double kernel = 1;
  for (size_t d = 2; d < dims.size(); ++d) kernel *= static_cast<double>(dims[d]);
  const double first = static_cast<double>(dims[0]) * kernel, second = static_cast<double>(dims[1]) * kernel;
  return layout == WeightLayout::output_first ? Fans{second, first} : Fans{first, second};
}

Result<double> gain_of(std::string_view function, double slope) {
  if (function == "linear" || function == "conv" || function == "sigmoid") return 1.0;
  if (function == "tanh") return 5.0 / 3;
  if (function == "relu") return std::sqrt(2.0);
  if (function == "leaky_relu") return std::sqrt(2 / (1 + slope * slope));
  if (function == "selu") return 0.75;
  return error("no gain is known for '{}'; known: linear, conv, sigmoid, tanh, relu, leaky_relu, selu", function.substr(0, 40));
}

Status initialize(const Initializer& how, const RandomStream& stream, MutableTensor& tensor) {
  using Kind = Initializer::Kind;
  if (tensor.type() != DType::f32) return error("initial values are made for float32, not for {}", name_of(tensor.type()));
  SV_TRY(check(how));
  const std::span<float> out = tensor.data<float>();
  const auto mean = static_cast<float>(how.mean), deviation = static_cast<float>(how.deviation);
  const auto low = static_cast<float>(how.low), high = static_cast<float>(how.high);
  switch (how.kind) {
    case Kind::constant: std::ranges::fill(out, mean); return {};
    case Kind::uniform: fill_uniform(stream, 0, low, high, out); return {};
    case Kind::normal: fill_normal(stream, 0, mean, deviation, out); return {};
    case Kind::truncated_normal: fill_truncated_normal(stream, 0, mean, deviation, low, high, out); return {};
    default: break;
  }
  SV_ASSIGN(const Fans fans, fans_of(tensor.dims(), how.layout));
  const double fan = how.fan == Initializer::Fan::in ? fans.in : fans.out;
  switch (how.kind) {
    case Kind::xavier_uniform: fill_even(stream, how.gain * std::sqrt(6 / (fans.in + fans.out)), out); break;
    case Kind::xavier_normal:
      fill_normal(stream, 0, 0, static_cast<float>(how.gain * std::sqrt(2 / (fans.in + fans.out))), out);
      break;
    case Kind::kaiming_uniform: fill_even(stream, how.gain * std::sqrt(3 / fan), out); break;
    default: fill_normal(stream, 0, 0, static_cast<float>(how.gain / std::sqrt(fan)), out); break;
  }
  return {};
}

}  // namespace svengine
