// What the double-precision formulas of kernels/activation.inc are written with.
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>

namespace svengine::kernels {

// IEEE 754-2019 maximum and minimum, as the vector kernels' instructions: NaN on either side gives NaN, and +0 is above -0.
inline double at_least(double x, double low) { return x < low || std::isnan(low) || (x == low && std::signbit(x)) ? low : x; }
inline double at_most(double x, double high) { return x > high || std::isnan(high) || (x == high && std::signbit(high)) ? high : x; }

inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }
inline double log_of_1_plus_exp(double x) { return at_least(x, 0) + std::log1p(std::exp(-std::fabs(x))); }

// Slopes at infinity are their limits: beyond these bounds they are 0 or 1 in double.
inline double within(double x, double bound) { return std::clamp(x, -bound, bound); }

inline double gelu_slope(double v) {
  const double x = within(v, 50);
  return (1 + std::erf(x / std::numbers::sqrt2)) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}
inline double silu_slope(double v) {
  const double x = within(v, 1000);
  return logistic(x) * (1 + x * (1 - logistic(x)));
}
inline double gelu_tanh_slope(double v) {
  const double x = within(v, 50);
  const double root = std::sqrt(2 / std::numbers::pi), t = std::tanh(root * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

}  // namespace svengine::kernels
