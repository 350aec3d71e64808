// Division and multiples of integers that are not negative, rounded upwards. Kernels have their own (kernels/sve/): they share no
// inline function with files compiled for another processor.
#pragma once
#include <concepts>
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

}  // namespace svengine
