// Vector mathematics on doubles: exp and what is made of it, as in math/exp.h with longer polynomials.
//
// V is vd or Many of them (math/many.h). Every lane is active; NaN propagates.
#pragma once
#include "engine/kernels/sve/math/many.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// a / b for normal b > 0 and a finite with a quotient of magnitude 2 at most: at most 1 ULP. By estimate and Newton steps where
/// these are faster; the residual doubles the bits once more.
template <class A, class B>
SVENGINE_INLINE B vdiv_f64(A a, B b) {
  if constexpr (!kMachine.estimate_divide) {
    return veach([](auto x, auto y) SVENGINE_INLINE_LAMBDA { return vd(svdiv_x(svptrue_b64(), x, y)); }, a, b);
  } else {
    return veach(
        [](auto x, auto d) SVENGINE_INLINE_LAMBDA {
          const vb all = svptrue_b64();
          vd y = sve_reciprocal::estimate(d);
          SVENGINE_UNROLL
          for (int bits = sve_reciprocal::kBits; bits < 28; bits *= 2) y = svmul_x(all, y, sve_reciprocal::step(d, y));
          const vd q = svmul_x(all, x, y);
          return vfma(vfnma(q, d, x), y, q);
        },
        a, b);
  }
}

inline constexpr double kLog2eF64 = 0x1.71547652b82fep+0, kLn2F64 = 0x1.62e42fefa39efp-1, kLn2LoF64 = 0x1.abc9e3b39803fp-56;
inline constexpr double kRoundShiftF64 = 0x1.8p52;            // x + this has round(x) in its low bits
inline constexpr double kExponentShiftF64 = 0x1.8p52 + 1023;  // and here the exponent field of 2^round(x)

/// Numbers that a loop shall broadcast from memory where it has no registers to spare: see Coefficients in math/base.h.
SVENGINE_INLINE const double* in_memory(const double* c) {
  if constexpr (!kMachine.deep_window) __asm__("" : "+r"(c));
  return c;
}

/// c[0] x^(N-1) + ... + c[N-1].
template <class V, int N>
SVENGINE_INLINE V vpoly_f64(V x, const double (&c)[N]) {
  const double* at = in_memory(c);
  V p = vfma(x, vdup(at[0]), vdup(at[1]));
  SVENGINE_UNROLL
  for (int i = 2; i < N; ++i) p = vfma(p, x, vdup(at[i]));
  return p;
}

// ((exp(2 r) - 1) / 2 - r) / r^2 for |r| <= ln(2) / 4 and (exp(r) - 1) / r for |r| <= ln(2) / 2, interpolated at Chebyshev's points:
// 0.37 and 0.09 of 2^-53 relative to the whole.
inline constexpr double kTanhSeriesF64[] = {0x1.af38a9b0ec855p-16, 0x1.289185613a3d6p-13, 0x1.71de0dae63bb3p-11, 0x1.a019b90d2ae7ap-9,
                                            0x1.a01a01a7c41d5p-7,  0x1.6c16c1788bd90p-5,  0x1.11111111109b3p-3,  0x1.5555555553d63p-2,
                                            0x1.5555555555556p-1,  1.0};
inline constexpr double kExpSeriesF64[] = {0x1.af4de97ca4194p-26, 0x1.28a2ca617b969p-22, 0x1.71de0231960ebp-19, 0x1.a019a6611cad5p-16,
                                           0x1.a01a01abe7fe1p-13, 0x1.6c16c17f46982p-10, 0x1.11111111100dcp-7,  0x1.55555555520a4p-5,
                                           0x1.5555555555557p-3,  0x1.0000000000005p-1,  1.0};

inline constexpr double kTanhNumbersF64[] = {2 * kLog2eF64, kExponentShiftF64, -0.5 * kLn2F64};

/// tanh(x) = h / (h + 1) with h = (exp(2 x) - 1) / 2. At most 3 ULP, +-1 beyond 19.1.
template <class V>
SVENGINE_INLINE V vtanh_f64(V x) {
  const V y = vmin(vmax(x, -19.1), 19.1);
  const double* at = in_memory(kTanhNumbersF64);
  const V z = vfma(y, vdup(at[0]), vdup(at[1]));
  const V n = vsub(z, vdup(at[1]));
  const V r = vfma(n, vdup(at[2]), y);  // |n| <= 55 and tanh flattens: no second part of ln 2
  const V p = vfma(vmul(r, vpoly_f64(r, kTanhSeriesF64)), r, r);
  const V power = vpower_of_shifted(z);
  const V h = vfma(p, power, vfma(power, vdup(0.5), vdup(-0.5)));
  return vwith_sign_of(vdiv_f64(h, vadd(h, vdup(1.0))), x);
}

/// exp(x) is 2^n exp(r) with r = x - n ln 2, |x| < 2^40: n + shift, which is kExponentShiftF64 or kRoundShiftF64, and r from that. Two functions,
/// for GCC 12 keeps a structure of both on A64FX's stack.
template <class V>
SVENGINE_INLINE V vshifted_exponent_f64(V x, double shift) {
  return vfma(x, vdup(kLog2eF64), vdup(shift));
}
template <class V>
SVENGINE_INLINE V vexp_remainder_f64(V x, V shifted, double shift) {
  const V n = vsub(shifted, vdup(shift));
  return vfma(n, vdup(-kLn2LoF64), vfma(n, vdup(-kLn2F64), x));
}

/// exp(x) for x <= 0, 0 below -708, NaN for NaN: what softmax takes of differences from the maximum. At most 1.5 ULP.
template <class V>
SVENGINE_INLINE V vexp_of_difference_f64(V x) {
  const V z = vshifted_exponent_f64(x, kExponentShiftF64), r = vexp_remainder_f64(x, z, kExponentShiftF64);
  const V power = vpower_of_shifted(z);
  return vzero_below(x, vdup(-708.0), vfma(vmul(power, r), vpoly_f64(r, kExpSeriesF64), power));
}

/// exp(x). At most 1.5 ULP; gradual underflow to 0 (below -745.1), +infinity above 709.78, NaN for NaN.
/// 2^n is multiplied in two halves: neither overflow nor underflow comes early.
template <class V>
SVENGINE_INLINE V vexp_f64(V x) {
  const V y = vmin(vmax(x, -746.0), 710.0);
  const V z = vshifted_exponent_f64(y, kRoundShiftF64), r = vexp_remainder_f64(y, z, kRoundShiftF64);
  const V e = vfma(r, vpoly_f64(r, kExpSeriesF64), vdup(1.0));
  return veach(
      [](vd m, vd shifted) SVENGINE_INLINE_LAMBDA {
        const vb all = svptrue_b64();
        const vl n = svsub_x(all, svreinterpret_s64(shifted), svdup_s64(__builtin_bit_cast(int64_t, kRoundShiftF64)));
        const vl half = svasr_x(all, n, svdup_u64(1)), bias = svdup_s64(1023);
        const auto power = [&](vl k) SVENGINE_INLINE_LAMBDA {
          return vd(svreinterpret_f64(svlsl_x(all, svadd_x(all, k, bias), svdup_u64(52))));
        };
        return vmul(vmul(m, power(half)), power(svsub_x(all, n, half)));
      },
      e, z);
}

/// exp(x) - 1, with the sign of x: -0 stays. At most 2.5 ULP; -1 below -60, +infinity above 709.78, NaN for NaN.
/// 2^(n - 1) is a number where 2^n is not yet.
template <class V>
SVENGINE_INLINE V vexpm1_f64(V x) {
  const V y = vmin(vmax(x, -60.0), 710.0);
  const V z = vshifted_exponent_f64(y, kRoundShiftF64), r = vexp_remainder_f64(y, z, kRoundShiftF64);
  const V half_power = vpower_of_shifted(vadd(z, vdup(1022.0)));
  const V half = vfma(vmul(r, vpoly_f64(r, kExpSeriesF64)), half_power, vsub(half_power, vdup(0.5)));
  return vwith_sign_of(vadd(half, half), x);
}

/// 1 / (1 + exp(-x)). At most 3 ULP where normal, 0 below -708.
template <class V>
SVENGINE_INLINE V vsigmoid_f64(V x) {
  const V y = vmin(vmax(vneg(x), -708.0), 708.0);
  const V z = vshifted_exponent_f64(y, kExponentShiftF64), r = vexp_remainder_f64(y, z, kExponentShiftF64);
  const V power = vpower_of_shifted(z);
  const V e = vfma(vmul(power, r), vpoly_f64(r, kExpSeriesF64), power);
  return vzero_below(x, vdup(-708.0), vdiv_f64(vdup(1.0), vadd(e, vdup(1.0))));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
