// Initial values of a network's parameters.
//
//   name              values                                          s
//   xavier_uniform    even in [-s, s)                                 gain * sqrt(6 / (fan_in + fan_out))
//   xavier_normal     normal, deviation s                             gain * sqrt(2 / (fan_in + fan_out))
//   kaiming_uniform   even in [-s, s)                                 gain * sqrt(3 / fan)
//   kaiming_normal    normal, deviation s                             gain / sqrt(fan)
//
// Sources: Glorot and Bengio, AISTATS 2010; He et al., ICCV 2015 (arXiv 1502.01852). Formulas and fans are those of
// torch.nn.init. The values are a pure function of the stream and the position, see random.h.
#pragma once
#include <string_view>

#include "engine/base/random.h"
#include "engine/base/tensor.h"

namespace svengine {

/// How many inputs one output is the sum of, and how many outputs one input goes to.
struct Fans {
  double in = 0, out = 0;
};

/// Which dimension of a weight counts outputs. A convolution's weight is [out, in / group, ..], as is that of Gemm with transB
/// and of every PyTorch layer; the second operand of MatMul is [in, out].
enum class WeightLayout { output_first, input_first };

/// Of a weight of two or more dimensions, none of them 0; the dimensions after the second are the kernel's.
Result<Fans> fans_of(const Dims& dims, WeightLayout layout = WeightLayout::output_first);

/// torch.nn.init.calculate_gain: what keeps the variance through the function that follows. "linear", "conv" and "sigmoid" 1,
/// "tanh" 5/3, "relu" sqrt(2), "leaky_relu" sqrt(2 / (1 + slope^2)), "selu" 3/4.
Result<double> gain_of(std::string_view function, double slope = 0.01);

struct Initializer {
  enum class Kind { constant, uniform, normal, truncated_normal, xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal };
  enum class Fan { in, out };

  static Initializer constant(double value) { return {.kind = Kind::constant, .mean = value}; }
  static Initializer uniform(double low, double high) { return {.kind = Kind::uniform, .low = low, .high = high}; }
  static Initializer normal(double mean, double deviation) {
    return {.kind = Kind::normal, .mean = mean, .deviation = deviation};
  }
  /// Nothing outside [low, high], which the mean must be in.
  static Initializer truncated_normal(double mean, double deviation, double low, double high) {
    return {.kind = Kind::truncated_normal, .mean = mean, .deviation = deviation, .low = low, .high = high};
  }
  static Initializer xavier_uniform(double gain = 1) { return {.kind = Kind::xavier_uniform, .gain = gain}; }
  static Initializer xavier_normal(double gain = 1) { return {.kind = Kind::xavier_normal, .gain = gain}; }
  /// The default gain is that of Relu.
  static Initializer kaiming_uniform(double gain = 1.4142135623730951, Fan fan = Fan::in) {
    return {.kind = Kind::kaiming_uniform, .gain = gain, .fan = fan};
  }
  static Initializer kaiming_normal(double gain = 1.4142135623730951, Fan fan = Fan::in) {
    return {.kind = Kind::kaiming_normal, .gain = gain, .fan = fan};
  }

  Kind kind = Kind::constant;
  double mean = 0, deviation = 1, low = 0, high = 0, gain = 1;
  Fan fan = Fan::in;
  WeightLayout layout = WeightLayout::output_first;
};

/// Sets every element of a float32 tensor. Refuses other types, parameters that are not finite or out of order, and fans of a
/// shape that has none.
Status initialize(const Initializer& how, const RandomStream& stream, MutableTensor& tensor);

}  // namespace svengine
