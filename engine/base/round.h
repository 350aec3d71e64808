// Division and multiples of integers that are not negative, rounded upwards, and reals rounded to integers. Kernels have their own
// (kernels/sve/): they share no inline function with files compiled for another processor.
#pragma once
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

namespace svengine {

/// The smallest number of parts of `size` that hold `value`; size > 0, value >= 0, of any magnitude.
template <std::integral T>
constexpr T ceil_div(T value, std::type_identity_t<T> size) {
  return value / size + (value % size != 0);
}

/// The smallest multiple of `multiple` not below `value`, which must fit T.
template <std::integral T>
constexpr T round_up(T value, std::type_identity_t<T> multiple) {
  return ceil_div(value, multiple) * multiple;
}

/// The nearest T, ties to even; what is beyond T's limits gives the limit, NaN gives 0.
template <class T>
T round_saturated(double x) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(x);
  constexpr double kLowest = static_cast<double>(std::numeric_limits<T>::lowest());
  constexpr double kBeyond = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);  // a power of two, exact for all
  if (std::isnan(x)) return 0;
  x = std::nearbyint(x);
  return x < kLowest ? std::numeric_limits<T>::lowest() : x >= kBeyond ? std::numeric_limits<T>::max() : static_cast<T>(x);
}

}  // namespace svengine
