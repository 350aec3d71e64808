// Conversions between any two element types, each rounded once: a source is read as a double or an integer, both exact.
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/kernels/reference/set/elementwise.h"
#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"

namespace svengine::kernels::reference {
namespace {

/// A small float of IEEE 754: its bits are sign, exponent, fraction.
struct Format {
  int exponent_bits, fraction_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int infinity() const { return ((1 << exponent_bits) - 1) << fraction_bits; }
};
constexpr Format kHalf{5, 10}, kBrain{8, 7};

double decode(uint16_t bits, const Format& f) {
  const int sign = bits >> 15 ? -1 : 1, size = bits & 0x7fff, exponent = size >> f.fraction_bits, unit = 1 << f.fraction_bits;
  if (size >= f.infinity()) return size == f.infinity() ? sign * HUGE_VAL : NAN;
  const int mantissa = size % unit + (exponent > 0 ? unit : 0);
  return sign * std::ldexp(mantissa, std::max(exponent, 1) - f.bias() - f.fraction_bits);
}

/// The nearest such float, ties to even. A long double holds every source exactly, 64-bit integers included.
uint16_t encode(long double x, const Format& f) {
  const int sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return static_cast<uint16_t>(sign | f.infinity() | 1 << (f.fraction_bits - 1));
  const long double size = std::fabs(x);
  if (size == 0) return static_cast<uint16_t>(sign);
  if (std::isinf(size)) return static_cast<uint16_t>(sign | f.infinity());
  const int exponent = std::max(std::ilogb(size), 1 - f.bias());  // subnormals have the lowest normal number's
  const long double mantissa = std::nearbyint(std::ldexp(size, f.fraction_bits - exponent));
  if (exponent > f.bias()) return static_cast<uint16_t>(sign | f.infinity());
  // The mantissa's leading 1, where there is one, adds 1 to the exponent; so does a carry of the rounding.
  const int bits = ((exponent + f.bias() - 1) << f.fraction_bits) + static_cast<int>(mantissa);
  return static_cast<uint16_t>(sign | std::min(bits, f.infinity()));
}

/// A double towards zero, within the integer's range; NaN is 0.
template <class T>
T truncated(double x) {
  if (std::isnan(x)) return 0;
  const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);  // one more than the highest
  if (x >= above) return std::numeric_limits<T>::max();
  if (x <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(x);
}

/// What a number is: a double, or an integer of 64 bits.
template <class T>
auto exactly(T x) {
  if constexpr (std::is_same_v<T, Half>)
    return decode(x.bits, kHalf);
  else if constexpr (std::is_same_v<T, Brain>)
    return decode(x.bits, kBrain);
  else if constexpr (std::is_same_v<T, Bool>)
    return uint64_t{x.value != 0};
  else if constexpr (std::is_floating_point_v<T>)
    return double{x};
  else if constexpr (std::is_signed_v<T>)
    return int64_t{x};
  else
    return uint64_t{x};
}

template <class To, class From>
To converted(From x) {
  if constexpr (std::is_same_v<To, Half>)
    return {encode(x, kHalf)};
  else if constexpr (std::is_same_v<To, Brain>)
    return {encode(x, kBrain)};
  else if constexpr (std::is_same_v<To, Bool>)
    return {x != From(0)};
  else if constexpr (std::is_floating_point_v<To> || std::is_integral_v<From>)
    return static_cast<To>(x);
  else if constexpr (sizeof(To) >= 4)
    return truncated<To>(x);
  else
    return static_cast<To>(truncated<int64_t>(x));
}

}  // namespace

int64_t cast_items(const CastArgs& args) { return args.n; }

void cast_range(const CastArgs& args, int64_t begin, int64_t end, void*) {
  visit_type(args.from, [&]<class From>(From) {
    visit_type(args.to, [&]<class To>(To) {
      const From* x = static_cast<const From*>(args.x);
      To* y = static_cast<To*>(args.y);
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_same_v<From, To>)
          y[i] = x[i];
        else
          y[i] = converted<To>(exactly(x[i]));
      }
    });
  });
}

}  // namespace svengine::kernels::reference
