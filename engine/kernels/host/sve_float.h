// Host ACLE: floating-point arithmetic. Every operation rounds once.
#pragma once
#include "sve_integer.h"

namespace sve_host {

template <FloatVector V>
SVE_FN V divide(V a, V b) {
  return a / b;
}
template <FloatVector V>
SVE_FN V divide_reversed(V a, V b) {
  return b / a;
}
template <FloatVector V>
SVE_FN V negate(V a) {
  return (V)((Unsigned<V>)a ^ (Unsigned<V>)dup<V>(-0.0f));
}
template <FloatVector V>
SVE_FN V magnitude(V a) {
  return (V)((Unsigned<V>)a & ~(Unsigned<V>)dup<V>(-0.0f));
}

template <FloatVector V>
SVE_FN V distance(V a, V b) {
  return magnitude(a - b);
}

// Against a number x86's own instruction, which gives the second operand when either is NaN or both are zero, does where the
// compiler knows the number. Otherwise something is added to the second operand first: nothing, which is -0 or in min_or_nan,
// rounded down, +0; or a bound that is NaN; or a zero, and the sum has the sign that it must not lose. Which of these is found
// without a branch, so that it is found once for all vectors.
template <FloatVector V>
SVE_FN V nan_or_zero(Element<V> s, Element<V> zero) {  // s if it is NaN or this zero, else the other zero
  using U = Element<Unsigned<V>>;
  const U bits = __builtin_bit_cast(U, s), kept = __builtin_bit_cast(U, zero), other = __builtin_bit_cast(U, -zero);
  const U keeps = -U((s != s) | (bits == kept));
  return dup<V>(__builtin_bit_cast(Element<V>, (bits & keeps) | (other & ~keeps)));
}
template <FloatVector V>
SVE_FN V max_or_nan(V a, Element<V> s) {
  const V b = dup<V>(s);
  if (known_positive_zero(s)) return raw_max(b, a) + b;
  if (known_number(s)) return raw_max(b, a);
  return raw_max(b, a + nan_or_zero<V>(s, 0.0));
}
template <FloatVector V>
SVE_FN V min_or_nan(V a, Element<V> s) {
  const V b = dup<V>(s);
  if (known_number(s) && !known_negative_zero(s)) return raw_min(b, a);
#if __ARM_FEATURE_SVE_BITS == 512
  return raw_min(b, add_down(a, nan_or_zero<V>(s, -0.0)));
#else
  return min_or_nan(a, b);
#endif
}
template <FloatVector V>
SVE_FN V multiply_add(V a, V b, V c) {  // a + b c
  return fma(b, c, a);
}
template <FloatVector V>
SVE_FN V multiply_subtract(V a, V b, V c) {  // a - b c
  return fnma(b, c, a);
}
template <FloatVector V>
SVE_FN V multiplicand_add(V a, V b, V c) {  // a b + c
  return fma(a, b, c);
}
template <FloatVector V>
SVE_FN V multiplicand_subtract(V a, V b, V c) {  // c - a b
  return fnma(a, b, c);
}
template <FloatVector V>
SVE_FN V negated_multiply_add(V a, V b, V c) {  // -a - b c
  return fnms(b, c, a);
}
template <FloatVector V>
SVE_FN V negated_multiply_subtract(V a, V b, V c) {  // b c - a
  return fms(b, c, a);
}
template <FloatVector V>
SVE_FN V negated_multiplicand_add(V a, V b, V c) {  // -c - a b
  return fnms(a, b, c);
}
template <FloatVector V>
SVE_FN V negated_multiplicand_subtract(V a, V b, V c) {  // a b - c
  return fms(a, b, c);
}

template <FloatVector V>
SVE_FN V round_nearest_even(V v) {
  return round<Round::kNearestEven>(v);
}
template <FloatVector V>
SVE_FN V round_down(V v) {
  return round<Round::kDown>(v);
}
template <FloatVector V>
SVE_FN V round_up(V v) {
  return round<Round::kUp>(v);
}
template <FloatVector V>
SVE_FN V round_zero(V v) {
  return round<Round::kZero>(v);
}
template <FloatVector V>
SVE_FN V round_current(V v) {
  return round<Round::kCurrent>(v);
}
// Ties away from zero: the value just below one half, with v's sign, lifts exactly what must move past the next
// integer.
template <FloatVector V>
SVE_FN V round_away(V v) {
  using U = Unsigned<V>;
  const V below_half = dup<V>(kWidth<V> == 4 ? Element<V>(0x1.fffffep-2f) : Element<V>(0x1.fffffffffffffp-2));
  const U sign = (U)v & (U)dup<V>(-0.0f);
  return round<Round::kZero>(v + (V)((U)below_half | sign));
}

}  // namespace sve_host

#define SVE_BOUND_FORM(name, type, op)                \
  template <sve_host::FloatVector V>                  \
  SVE_FN V name##_x(svbool_t, V a, type b) {          \
    return sve_host::op(a, b);                        \
  }                                                   \
  template <sve_host::FloatVector V>                  \
  SVE_FN V name##_m(svbool_t p, V a, type b) {        \
    return sve_host::sel(p, sve_host::op(a, b), a);   \
  }                                                   \
  template <sve_host::FloatVector V>                  \
  SVE_FN V name##_z(svbool_t p, V a, type b) {        \
    return sve_host::sel(p, sve_host::op(a, b), V{}); \
  }
#define SVE_BOUND(name, op) SVE_BOUND_FORM(name, V, op) SVE_BOUND_FORM(name, sve_host::Element<V>, op)

SVE_BINARY(svdiv, FloatVector, divide)
SVE_BINARY(svdivr, FloatVector, divide_reversed)
SVE_BINARY(svabd, FloatVector, distance)
SVE_BOUND(svmax, max_or_nan)
SVE_BOUND(svmin, min_or_nan)
SVE_BOUND(svmaxnm, max_number)
SVE_BOUND(svminnm, min_number)
SVE_UNARY(svneg, FloatVector, negate)
SVE_UNARY(svabs, FloatVector, magnitude)
SVE_UNARY(svsqrt, FloatVector, square_root)
SVE_UNARY(svrintn, FloatVector, round_nearest_even)
SVE_UNARY(svrintm, FloatVector, round_down)
SVE_UNARY(svrintp, FloatVector, round_up)
SVE_UNARY(svrintz, FloatVector, round_zero)
SVE_UNARY(svrintx, FloatVector, round_current)
SVE_UNARY(svrinti, FloatVector, round_current)
SVE_UNARY(svrinta, FloatVector, round_away)
SVE_TERNARY(svmla, FloatVector, multiply_add)
// With its full name, svmla_x of a number: taken from where it lies in memory, which AVX-512 can do within the instruction.
SVE_FN svfloat32_t svmla_n_f32_x(svbool_t p, svfloat32_t a, svfloat32_t b, const float& c) {
#if __ARM_FEATURE_SVE_BITS == 512
  (void)p;
  __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(a) : "v"(b), "m"(c));
  return a;
#else
  return svmla_x(p, a, b, c);
#endif
}
SVE_TERNARY(svmls, FloatVector, multiply_subtract)
SVE_TERNARY(svmad, FloatVector, multiplicand_add)
SVE_TERNARY(svmsb, FloatVector, multiplicand_subtract)
SVE_TERNARY(svnmla, FloatVector, negated_multiply_add)
SVE_TERNARY(svnmls, FloatVector, negated_multiply_subtract)
SVE_TERNARY(svnmad, FloatVector, negated_multiplicand_add)
SVE_TERNARY(svnmsb, FloatVector, negated_multiplicand_subtract)

// Comparison of magnitudes; false in inactive lanes and on NaN.
template <sve_host::FloatVector V>
SVE_FN svbool_t svacle(svbool_t g, V a, V b) {
  return sve_host::predicate_and(sve_host::compare<sve_host::Compare::kLe>(sve_host::magnitude(a), sve_host::magnitude(b)), g);
}
template <sve_host::FloatVector V>
SVE_FN svbool_t svacle(svbool_t g, V a, sve_host::Element<V> b) {
  return svacle(g, a, sve_host::dup<V>(b));
}

#define SVE_SCALE(form, ...)                                                                        \
  SVE_FN svfloat32_t svscale_##form(svbool_t p, svfloat32_t v, svint32_t n) { return __VA_ARGS__; } \
  SVE_FN svfloat32_t svscale_##form(svbool_t p, svfloat32_t v, int32_t n) {                         \
    return svscale_##form(p, v, sve_host::dup<svint32_t>(n));                                       \
  }
SVE_SCALE(x, (void(p), sve_host::scale(v, n)))
SVE_SCALE(m, sve_host::sel(p, sve_host::scale(v, n), v))
SVE_SCALE(z, sve_host::sel(p, sve_host::scale(v, n), svfloat32_t{}))
#undef SVE_SCALE
#undef SVE_BOUND
#undef SVE_BOUND_FORM
#undef SVE_BINARY
#undef SVE_UNARY
#undef SVE_TERNARY
