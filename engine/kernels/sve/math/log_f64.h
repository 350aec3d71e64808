// Logarithms on vectors of doubles.
//
// With s = f / (2 + f),  log(1 + f) = 2 atanh(s) = f - h + s (h + R(s^2)),  h = f^2 / 2,  R(z) = 2/3 z + 2/5 z^2 + ...: what is rounded last is
// f less something small. f is between sqrt(1/2) - 1 and sqrt(2) - 1, so s^2 is at most 0.0295.
#pragma once
#include "engine/kernels/sve/math/f64.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

// R(z) / z, interpolated at Chebyshev's points: its share of the logarithm is off by 0.04 of 2^-53.
inline constexpr double kLogSeriesF64[] = {0x1.2b584aae78a57p-3, 0x1.39fe606542ddep-3, 0x1.7462b4ab2ef6bp-3, 0x1.c71c62e5800a1p-3,
                                           0x1.2492492df148dp-2, 0x1.99999999952e2p-2, 0x1.5555555555558p-1};

/// log(1 + f) + k ln 2.
template <class V>
SVENGINE_INLINE V vlog_of_parts_f64(V f, V k) {
  const V s = vdiv_f64(f, vadd(f, vdup(2.0))), z = vmul(s, s);
  const V h = vmul(vmul(f, vdup(0.5)), f);
  const V rest = vfma(s, vfma(z, vpoly_f64(z, kLogSeriesF64), h), vmul(k, vdup(kLn2LoF64)));
  return vfma(k, vdup(kLn2F64), vsub(f, vsub(h, rest)));
}

inline constexpr double kSmallestNormalF64 = 0x1p-1022;

/// The bits of x 2^54 for subnormal x, less those of sqrt(1/2): k of x = 2^k (1 + f) above the lowest 52.
SVENGINE_INLINE vl vbits_beyond_root_half(vd x) {
  const vd normal = vsel_below(x, vdup(kSmallestNormalF64), vmul(x, vdup(0x1p54)), x);
  return svsub_x(svptrue_b64(), svreinterpret_s64(normal), svdup_s64(0x3fe6a09e667f3bcd));
}
SVENGINE_INLINE vd vbinary_fraction(vd x) {
  const vb all = svptrue_b64();
  const vl bits = svand_x(all, vbits_beyond_root_half(x), svdup_s64((int64_t{1} << 52) - 1));
  return vsub(svreinterpret_f64(svadd_x(all, bits, svdup_s64(0x3fe6a09e667f3bcd))), vdup(1.0));
}
SVENGINE_INLINE vd vbinary_exponent(vd x) {
  const vb all = svptrue_b64();
  const vd k = svcvt_f64_x(all, vl(svasr_x(all, vbits_beyond_root_half(x), svdup_u64(52))));
  return vadd(k, vsel_below(x, vdup(kSmallestNormalF64), vdup(-54.0), vdup(0.0)));
}

/// log(x). At most 1.5 ULP; -infinity for zeros, NaN below.
template <class V>
SVENGINE_INLINE V vlog_f64(V x) {
  const V f = veach([](vd v) SVENGINE_INLINE_LAMBDA { return vbinary_fraction(v); }, x);
  const V k = veach([](vd v) SVENGINE_INLINE_LAMBDA { return vbinary_exponent(v); }, x);
  return veach(
      [](vd v, vd y) SVENGINE_INLINE_LAMBDA {
        const vb all = svptrue_b64();
        constexpr double kInf = __builtin_inf();
        const vd finite = svsel(svcmpeq(all, v, vdup(kInf)), vdup(kInf), y);
        return vd(svsel(svcmpgt(all, v, vdup(0.0)), finite, svsel(svcmpeq(all, v, vdup(0.0)), vdup(-kInf), vdup(__builtin_nan("")))));
      },
      x, vlog_of_parts_f64(f, k));
}

/// log(1 + x) for 0 <= x <= 1. At most 1.5 ULP.
template <class V>
SVENGINE_INLINE V vlog1p_f64(V x) {
  constexpr double kHalfway = 0x1.a827999fcef32p-2;  // sqrt(2) - 1: from here on 1 + x is taken for 2 (1 + (x - 1) / 2)
  const V f = vsel_below(x, vdup(kHalfway), x, vmul(vsub(x, vdup(1.0)), vdup(0.5)));
  return vlog_of_parts_f64(f, vsel_below(x, vdup(kHalfway), vdup(0.0), vdup(1.0)));
}

/// log(1 + exp(x)). At most 2.5 ULP where normal, 0 below -708.
template <class V>
SVENGINE_INLINE V vsoftplus_f64(V x) {
  return vadd(vmax(x, 0.0), vlog1p_f64(vexp_of_difference_f64(vneg(vabs(x)))));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
