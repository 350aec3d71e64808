// Elementwise functions of one C++ number, defined for every operand, for the types that networks do not use at speed. The
// compiler vectorises the loops around them where it can.
#pragma once
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise::scalar {

template <class T>
inline constexpr bool kIsFloat = T(0.5f) != T(0);
template <class T>
inline constexpr bool kIsSigned = T(-1) < T(0);
template <class T>
inline constexpr bool kIsUnsigned = !kIsFloat<T> && !kIsSigned<T>;

template <class T>
struct Unsigned;
template <class T>
  requires(sizeof(T) == 1)
struct Unsigned<T> {
  using Type = uint8_t;
};
template <class T>
  requires(sizeof(T) == 2)
struct Unsigned<T> {
  using Type = uint16_t;
};
template <class T>
  requires(sizeof(T) == 4)
struct Unsigned<T> {
  using Type = uint32_t;
};
template <class T>
  requires(sizeof(T) == 8)
struct Unsigned<T> {
  using Type = uint64_t;
};

// Integer arithmetic wraps: in 64 unsigned bits, of which the low ones are kept.
template <class T>
T add(T a, T b) {
  if constexpr (kIsFloat<T>) return a + b;
  else return T(uint64_t(a) + uint64_t(b));
}
template <class T>
T subtract(T a, T b) {
  if constexpr (kIsFloat<T>) return a - b;
  else return T(uint64_t(a) - uint64_t(b));
}
template <class T>
T multiply(T a, T b) {
  if constexpr (kIsFloat<T>) return a * b;
  else return T(uint64_t(a) * uint64_t(b));
}
template <class T>
T divide(T a, T b) {
  if constexpr (kIsFloat<T>) {
    return a / b;
  } else {
    if (b == T(0)) return T(0);
    if constexpr (kIsSigned<T>)
      if (b == T(-1)) return subtract(T(0), a);
    return T(a / b);
  }
}

/// The remainder with the sign of the dividend.
template <class T>
T fmod(T a, T b) {
  if constexpr (kIsFloat<T>) {
    return T(sizeof(T) == 8 ? __builtin_fmod(a, b) : __builtin_fmodf(a, b));
  } else {
    if (b == T(0)) return T(0);
    if constexpr (kIsSigned<T>)
      if (b == T(-1)) return T(0);
    return T(a % b);
  }
}
/// The remainder with the sign of the divisor.
template <class T>
T mod(T a, T b) {
  const T r = fmod(a, b);
  if constexpr (kIsUnsigned<T>) return r;
  else return r != T(0) && (r < T(0)) != (b < T(0)) ? T(r + b) : r;
}

template <class T>
T power(T a, T b) {
  if constexpr (kIsFloat<T>) {
    return T(__builtin_pow(a, b));
  } else {
    if constexpr (kIsSigned<T>) {
      if (b < T(0)) return a == T(1) ? T(1) : a == T(-1) ? (b & 1 ? T(-1) : T(1)) : T(0);
    }
    uint64_t base = uint64_t(a), result = 1;
    for (uint64_t n = uint64_t(b); n; n >>= 1, base *= base)
      if (n & 1) result *= base;
    return T(result);
  }
}

template <class T>
T smaller_of(T a, T b) {
  return a < b || a != a ? a : b;
}
template <class T>
T larger_of(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
T prelu(T a, T b) {
  return a < T(0) ? multiply(a, b) : a;
}

template <class T>
T bit_and(T a, T b) {
  return T(a & b);
}
template <class T>
T bit_or(T a, T b) {
  return T(a | b);
}
template <class T>
T bit_xor(T a, T b) {
  return T(a ^ b);
}
template <class T>
T shift_left(T a, T b) {
  return b < T(sizeof(T) * 8) ? T(uint64_t(a) << b) : T(0);
}
template <class T>
T shift_right(T a, T b) {
  return b < T(sizeof(T) * 8) ? T(a >> b) : T(0);
}

template <class T>
uint8_t equal(T a, T b) {
  return a == b;
}
template <class T>
uint8_t greater(T a, T b) {
  return a > b;
}
template <class T>
uint8_t less(T a, T b) {
  return a < b;
}
template <class T>
uint8_t greater_or_equal(T a, T b) {
  return a >= b;
}
template <class T>
uint8_t less_or_equal(T a, T b) {
  return a <= b;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise::scalar
