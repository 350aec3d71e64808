// Host ACLE: integer arithmetic, logic and shifts. Overflow wraps, as in SVE (so the work is done on unsigned
// elements).
#pragma once
#include "sve_types.h"

// name_x, name_m (inactive lanes keep the first operand), name_z (inactive lanes are zero), with a vector or a scalar.
#define SVE_BINARY(name, constraint, op)                       \
  template <sve_host::constraint V>                            \
  SVE_FN V name##_x(svbool_t, V a, V b) {                      \
    return sve_host::op(a, b);                                 \
  }                                                            \
  template <sve_host::constraint V>                            \
  SVE_FN V name##_m(svbool_t p, V a, V b) {                    \
    return sve_host::sel(p, sve_host::op(a, b), a);            \
  }                                                            \
  template <sve_host::constraint V>                            \
  SVE_FN V name##_z(svbool_t p, V a, V b) {                    \
    return sve_host::sel(p, sve_host::op(a, b), V{});          \
  }                                                            \
  template <sve_host::constraint V>                            \
  SVE_FN V name##_x(svbool_t p, V a, sve_host::Element<V> b) { \
    return name##_x(p, a, sve_host::dup<V>(b));                \
  }                                                            \
  template <sve_host::constraint V>                            \
  SVE_FN V name##_m(svbool_t p, V a, sve_host::Element<V> b) { \
    return name##_m(p, a, sve_host::dup<V>(b));                \
  }                                                            \
  template <sve_host::constraint V>                            \
  SVE_FN V name##_z(svbool_t p, V a, sve_host::Element<V> b) { \
    return name##_z(p, a, sve_host::dup<V>(b));                \
  }

// name_x, name_z, and name_m with the vector for inactive lanes first.
#define SVE_UNARY(name, constraint, op)                 \
  template <sve_host::constraint V>                     \
  SVE_FN V name##_x(svbool_t, V a) {                    \
    return sve_host::op(a);                             \
  }                                                     \
  template <sve_host::constraint V>                     \
  SVE_FN V name##_z(svbool_t p, V a) {                  \
    return sve_host::sel(p, sve_host::op(a), V{});      \
  }                                                     \
  template <sve_host::constraint V>                     \
  SVE_FN V name##_m(V inactive, svbool_t p, V a) {      \
    return sve_host::sel(p, sve_host::op(a), inactive); \
  }

// Three operands; _m keeps the first.
#define SVE_TERNARY(name, constraint, op)                           \
  template <sve_host::constraint V>                                 \
  SVE_FN V name##_x(svbool_t, V a, V b, V c) {                      \
    return sve_host::op(a, b, c);                                   \
  }                                                                 \
  template <sve_host::constraint V>                                 \
  SVE_FN V name##_m(svbool_t p, V a, V b, V c) {                    \
    return sve_host::sel(p, sve_host::op(a, b, c), a);              \
  }                                                                 \
  template <sve_host::constraint V>                                 \
  SVE_FN V name##_z(svbool_t p, V a, V b, V c) {                    \
    return sve_host::sel(p, sve_host::op(a, b, c), V{});            \
  }                                                                 \
  template <sve_host::constraint V>                                 \
  SVE_FN V name##_x(svbool_t p, V a, V b, sve_host::Element<V> c) { \
    return name##_x(p, a, b, sve_host::dup<V>(c));                  \
  }                                                                 \
  template <sve_host::constraint V>                                 \
  SVE_FN V name##_m(svbool_t p, V a, V b, sve_host::Element<V> c) { \
    return name##_m(p, a, b, sve_host::dup<V>(c));                  \
  }                                                                 \
  template <sve_host::constraint V>                                 \
  SVE_FN V name##_z(svbool_t p, V a, V b, sve_host::Element<V> c) { \
    return name##_z(p, a, b, sve_host::dup<V>(c));                  \
  }

namespace sve_host {

template <Vector V>
SVE_FN V add(V a, V b) {
  if constexpr (FloatVector<V>)
    return a + b;
  else
    return (V)((Unsigned<V>)a + (Unsigned<V>)b);
}
template <Vector V>
SVE_FN V subtract(V a, V b) {
  if constexpr (FloatVector<V>)
    return a - b;
  else
    return (V)((Unsigned<V>)a - (Unsigned<V>)b);
}
template <Vector V>
SVE_FN V subtract_reversed(V a, V b) {
  return subtract(b, a);
}
template <Vector V>
SVE_FN V multiply(V a, V b) {
  if constexpr (FloatVector<V>)
    return a * b;
  else
    return (V)((Unsigned<V>)a * (Unsigned<V>)b);
}
template <IntegerVector V>
SVE_FN V bit_and(V a, V b) {
  return a & b;
}
template <IntegerVector V>
SVE_FN V bit_or(V a, V b) {
  return a | b;
}
template <IntegerVector V>
SVE_FN V bit_xor(V a, V b) {
  return a ^ b;
}
template <IntegerVector V>
SVE_FN V bit_clear(V a, V b) {
  return a & ~b;
}
template <IntegerVector V>
SVE_FN V bit_not(V a) {
  return ~a;
}
template <IntegerVector V>
SVE_FN V larger(V a, V b) {
  return a > b ? a : b;
}
template <IntegerVector V>
SVE_FN V smaller(V a, V b) {
  return a < b ? a : b;
}
template <IntegerVector V>
SVE_FN V distance(V a, V b) {
  return subtract(larger(a, b), smaller(a, b));
}
// x / 0 is 0 and the lowest value / -1 is itself. Element by element: x86 divides no integer vectors.
template <WideIntegerVector V>
SVE_FN V quotient(V a, V b) {
  V r{};
  for (int i = 0; i < kCount<V>; ++i) {
    const Element<V> n = a[i], d = b[i];
    if (d == 0)
      r[i] = 0;
    else if (SignedVector<V> && d == Element<V>(-1))
      r[i] = Element<V>(-Element<Unsigned<V>>(n));
    else
      r[i] = n / d;
  }
  return r;
}
template <IntegerVector V>
SVE_FN V multiply_add(V a, V b, V c) {  // a + b c
  return add(a, multiply(b, c));
}
template <IntegerVector V>
SVE_FN V multiply_subtract(V a, V b, V c) {  // a - b c
  return subtract(a, multiply(b, c));
}
template <IntegerVector V>
SVE_FN V multiplicand_add(V a, V b, V c) {  // a b + c
  return add(multiply(a, b), c);
}
template <IntegerVector V>
SVE_FN V multiplicand_subtract(V a, V b, V c) {  // c - a b
  return subtract(c, multiply(a, b));
}
template <SignedVector V>
SVE_FN V negate(V a) {
  return subtract(V{}, a);
}
template <SignedVector V>
SVE_FN V magnitude(V a) {
  return larger(a, negate(a));
}

// Shifts for which the instruction set has no instruction.
template <IntegerVector V>
requires(!kShiftsNatively<V>) SVE_FN V shift_left(V a, Unsigned<V> n) {
  const Unsigned<V> width = dup<Unsigned<V>>(kWidth<V> * 8);
  return sel(compare<Compare::kLt>(n, width), (V)((Unsigned<V>)a << (n & (width - 1))), V{});
}
template <IntegerVector V>
requires(!kShiftsNatively<V>) SVE_FN V shift_right(V a, Unsigned<V> n) {
  const Unsigned<V> width = dup<Unsigned<V>>(kWidth<V> * 8);
  if constexpr (SignedVector<V>)
    return a >> (V)smaller(n, width - 1);
  else
    return sel(compare<Compare::kLt>(n, width), a >> (n & (width - 1)), V{});
}
// A count that the compiler knows goes into the instruction.
template <IntegerVector V>
SVE_FN V shift_left(V a, Element<Unsigned<V>> n) {
  if (__builtin_constant_p(n) && n < kWidth<V> * 8) return (V)((Unsigned<V>)a << int(n));
  return shift_left(a, dup<Unsigned<V>>(n));
}
template <IntegerVector V>
SVE_FN V shift_right(V a, Element<Unsigned<V>> n) {
  if (__builtin_constant_p(n) && n < kWidth<V> * 8) return a >> int(n);
  return shift_right(a, dup<Unsigned<V>>(n));
}

// Four products of bytes added to each 32-bit element: even and odd bytes as 16-bit numbers, whose products fit.
SVE_FN svint32_t dot(svint32_t sum, svint8_t a, svint8_t b) {
  const svint16_t x = (svint16_t)a, y = (svint16_t)b;
  const svint16_t even_x = (svint16_t)((svuint16_t)a << 8) >> 8, even_y = (svint16_t)((svuint16_t)b << 8) >> 8;
  return add(sum, add(multiply_pairs(even_x, even_y), multiply_pairs(x >> 8, y >> 8)));
}
SVE_FN svuint32_t dot(svuint32_t sum, svuint8_t a, svuint8_t b) {
  const svuint16_t x = (svuint16_t)a, y = (svuint16_t)b;
  const svint32_t even = multiply_pairs((svint16_t)(x & 0xff), (svint16_t)(y & 0xff));
  return add(sum, (svuint32_t)add(even, multiply_pairs((svint16_t)(x >> 8), (svint16_t)(y >> 8))));
}

}  // namespace sve_host

SVE_BINARY(svadd, Vector, add)
SVE_BINARY(svsub, Vector, subtract)
SVE_BINARY(svsubr, Vector, subtract_reversed)
SVE_BINARY(svmul, Vector, multiply)
SVE_BINARY(svand, IntegerVector, bit_and)
SVE_BINARY(svorr, IntegerVector, bit_or)
SVE_BINARY(sveor, IntegerVector, bit_xor)
SVE_BINARY(svbic, IntegerVector, bit_clear)
SVE_BINARY(svmax, IntegerVector, larger)
SVE_BINARY(svmin, IntegerVector, smaller)
SVE_BINARY(svabd, IntegerVector, distance)
SVE_UNARY(svnot, IntegerVector, bit_not)
SVE_UNARY(svneg, SignedVector, negate)
SVE_UNARY(svabs, SignedVector, magnitude)
SVE_TERNARY(svmla, IntegerVector, multiply_add)
SVE_TERNARY(svmls, IntegerVector, multiply_subtract)
SVE_TERNARY(svmad, IntegerVector, multiplicand_add)
SVE_TERNARY(svmsb, IntegerVector, multiplicand_subtract)

SVE_BINARY(svdiv, WideIntegerVector, quotient)
SVE_FN svint32_t svdot(svint32_t sum, svint8_t a, svint8_t b) { return sve_host::dot(sum, a, b); }
SVE_FN svuint32_t svdot(svuint32_t sum, svuint8_t a, svuint8_t b) { return sve_host::dot(sum, a, b); }

// The shift count is unsigned, of the element's width.
#define SVE_SHIFT_FORM(name, constraint, count, op)   \
  template <sve_host::constraint V>                   \
  SVE_FN V name##_x(svbool_t, V a, count n) {         \
    return sve_host::op(a, n);                        \
  }                                                   \
  template <sve_host::constraint V>                   \
  SVE_FN V name##_m(svbool_t p, V a, count n) {       \
    return sve_host::sel(p, sve_host::op(a, n), a);   \
  }                                                   \
  template <sve_host::constraint V>                   \
  SVE_FN V name##_z(svbool_t p, V a, count n) {       \
    return sve_host::sel(p, sve_host::op(a, n), V{}); \
  }
#define SVE_SHIFT(name, constraint, op)                       \
  SVE_SHIFT_FORM(name, constraint, sve_host::Unsigned<V>, op) \
  SVE_SHIFT_FORM(name, constraint, sve_host::Element<sve_host::Unsigned<V>>, op)
SVE_SHIFT(svlsl, IntegerVector, shift_left)
SVE_SHIFT(svlsr, UnsignedVector, shift_right)
SVE_SHIFT(svasr, SignedVector, shift_right)
#undef SVE_SHIFT
#undef SVE_SHIFT_FORM
