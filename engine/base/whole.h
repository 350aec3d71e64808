// Real numbers from outside (attributes, values) as integers: the language says nothing of numbers that the type has not.
#pragma once
#include <cmath>
#include <concepts>
#include <limits>

namespace svengine {

/// Towards zero, within the type's limits; NaN is 0.
template <std::integral T>
T whole_within_limits(double value) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  return value >= static_cast<double>(Limits::max()) ? Limits::max() : static_cast<T>(value);
}

}  // namespace svengine
