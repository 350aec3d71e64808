// Circular functions on vectors of doubles.
//
// x = k pi/2 + r with |r| <= pi/4, as in math/trig.h: up to |x| = 2^20 the rounded product with 2/pi is k, and r comes from three fused
// multiply-subtracts with pi/2 in three doubles, of which the first is exact. What is beyond is for others to compute.
#pragma once
#include "engine/kernels/sve/math/f64.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr double kReducedLimitF64 = 0x1p20;

// (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 of r^2, interpolated at Chebyshev's points: 0.17 and 0.01 of 2^-53.
inline constexpr double kSinSeriesF64[] = {0x1.5e0b19f8b1451p-33,  -0x1.ae600b02b6262p-26, 0x1.71de37968a100p-19,
                                           -0x1.a01a019e83aaep-13, 0x1.1111111110bb2p-7,   -0x1.5555555555555p-3};
inline constexpr double kCosSeriesF64[] = {-0x1.907da367a37cbp-37, 0x1.1eeb68e93b64cp-29,  -0x1.27e4fa17da09ep-22,
                                           0x1.a01a019f4eb01p-16,  -0x1.6c16c16c16967p-10, 0x1.5555555555555p-5};

enum class Circular : int32_t { kSin, kCos, kTan };

/// r; k is in the lowest bits of `shifted`.
template <class V>
SVENGINE_INLINE V vquarter_remainder_f64(V x, V shifted) {
  constexpr double kHi = 0x1.921fb54442d18p+0, kMid = 0x1.1a62633145c07p-54, kLo = -0x1.f1976b7ed8fbcp-110;
  const V k = vsub(shifted, vdup(kRoundShiftF64));
  return vfnma(k, vdup(kLo), vfnma(k, vdup(kMid), vfnma(k, vdup(kHi), x)));
}

/// Of sin(r) and cos(r), what the function of k pi/2 + r is.
template <Circular kFunction>
SVENGINE_INLINE vd vpick_quarter(vd shifted, vd sine, vd cosine) {
  const vb all = svptrue_b64();
  vl k = svreinterpret_s64(shifted);
  if constexpr (kFunction == Circular::kCos) k = svadd_x(all, k, svdup_s64(1));
  const vb odd = svcmpne(all, vl(svand_x(all, k, svdup_s64(1))), svdup_s64(0));
  const auto negated = [&](vd v, vl sign_bit) SVENGINE_INLINE_LAMBDA {
    return vd(svreinterpret_f64(sveor_x(all, svreinterpret_s64(v), svlsl_x(all, sign_bit, svdup_u64(62)))));
  };
  if constexpr (kFunction == Circular::kTan) {  // sin / cos, or -cos / sin
    const vl turned = svlsl_x(all, vl(svand_x(all, k, svdup_s64(1))), svdup_u64(1));
    return vd(svdiv_x(all, negated(svsel(odd, cosine, sine), turned), vd(svsel(odd, sine, cosine))));
  } else {
    return negated(svsel(odd, cosine, sine), svand_x(all, k, svdup_s64(2)));
  }
}

/// sin(x), cos(x): at most 1 ULP; tan(x): at most 2.5 ULP; for |x| <= kReducedLimitF64. -0 stays; NaN for NaN.
template <Circular kFunction, class V>
SVENGINE_INLINE V vcircular_f64(V x) {
  const V turns = vfma(x, vdup(0x1.45f306dc9c883p-1), vdup(kRoundShiftF64)), r = vquarter_remainder_f64(x, turns);
  const V square = vmul(r, r);
  const V sine = vfma(vmul(vpoly_f64(square, kSinSeriesF64), square), r, r);
  const V half = vmul(square, vdup(0.5)), first = vsub(vdup(1.0), half);  // what that rounds away is added at the end
  const V lost = vsub(vsub(vdup(1.0), first), half);
  const V cosine = vadd(first, vfma(vmul(square, square), vpoly_f64(square, kCosSeriesF64), lost));
  return veach(
      [](vd argument, vd shifted, vd s, vd c) SVENGINE_INLINE_LAMBDA {
        const vb all = svptrue_b64();
        vd y = vpick_quarter<kFunction>(shifted, s, c);
        if constexpr (kFunction != Circular::kCos) y = svsel(svcmpeq(all, argument, vdup(0.0)), argument, y);
        return y;
      },
      x, turns, sine, cosine);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
