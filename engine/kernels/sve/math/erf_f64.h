// The error function on vectors of doubles, and GELU.
//
// Beside 0, erf(x) is x times a polynomial of x^2. Elsewhere it is 1 - erfc(|x|), and
//
//     erfc(a) = exp(-a^2) Q(a),    Q(a) (1 + 2 a) = a polynomial of q = (a - 4) / (a + 4)
//
// which decreases slowly from 1 to 1.13 / (2 a) (M. M. Shepherd and J. G. Laframboise, Math. Comp. 36, 1981, for the substitution).
#pragma once
#include "engine/kernels/sve/math/f64.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

// erf(x) / x of x^2 for |x| <= 0.75, and Q(a) (1 + 2 a) of q for 0 <= a <= 27, interpolated at Chebyshev's points: 0.12 and 0.66 of 2^-53.
inline constexpr double kErfSeriesF64[] = {0x1.8a312cb07e6ccp-27,  -0x1.564f71bbc0d35p-23, 0x1.b90ecd4aeec12p-20, -0x1.f4c5debf1228ap-17,
                                           0x1.f9a2afa3a8f86p-14,  -0x1.c02db1220cfe6p-11, 0x1.565bcd03657c0p-8,  -0x1.b82ce31257412p-6,
                                           0x1.ce2f21a0424c3p-4,   -0x1.812746b0379e0p-2,  0x1.20dd750429b6dp+0};
inline constexpr double kErfcSeriesF64[] = {
    -0x1.2e116e7d0cd62p-27, -0x1.3971c41f8a387p-27, 0x1.b553b1588b754p-24,  0x1.f2a17c826f508p-25,  -0x1.b7d3354dfb70ep-21, 0x1.4d9a174d83f68p-22,
    0x1.7f06284fded86p-18,  -0x1.78e603b0399d5p-17, -0x1.99592ca072953p-16, 0x1.3be2974691f84p-13,  -0x1.a1df082046034p-13, -0x1.8d4abf35789eap-11,
    0x1.49c672363c69dp-8,   -0x1.09623856c74ffp-6,  0x1.3079edf8047c1p-5,   -0x1.0fb06dff57562p-4,  0x1.7fee004e04824p-4,   -0x1.9ddb23c3dc50ep-4,
    0x1.16ecefcfa5a0ap-4,   0x1.f7f5df66fb97cp-7,   -0x1.1df1ad154a294p-3,  0x1.3ba5916e9fd7fp+0};

/// exp(a^2) erfc(a) for 0 <= a <= 28.3.
template <class V>
SVENGINE_INLINE V vscaled_erfc_f64(V a) {
  const V q = vdiv_f64(vsub(a, vdup(4.0)), vadd(a, vdup(4.0)));
  return vdiv_f64(vpoly_f64(q, kErfcSeriesF64), vfma(a, vdup(2.0), vdup(1.0)));
}

/// exp(-x y) for x y >= 0, as exact as the product would be if it were not rounded.
template <class V>
SVENGINE_INLINE V vexp_of_minus_product_f64(V x, V y) {
  const V product = vmul(x, y), lost = vfma(x, y, vneg(product));
  const V e = vexp_of_difference_f64(vneg(product));
  return vfnma(e, lost, e);
}

/// erf(x). At most 1.5 ULP.
template <class V>
SVENGINE_INLINE V verf_f64(V x) {
  const V a = vmin(vabs(x), 28.0);
  const V near = vmul(a, vpoly_f64(vmul(a, a), kErfSeriesF64));
  const V far = vsub(vdup(1.0), vmul(vexp_of_minus_product_f64(a, a), vscaled_erfc_f64(a)));
  return vwith_sign_of(vsel_below(a, vdup(0.75), near, far), x);
}

/// x/2 (1 + erf(x / sqrt 2)), without its cancellation. At most 5 ULP where normal, 0 below -37.6; infinity times 0 is NaN.
template <class V>
SVENGINE_INLINE V vgelu_f64(V x) {
  const V a = vmin(vabs(x), 40.0), half = vmul(a, vdup(0.5));
  const V tail = vmul(vmul(vexp_of_minus_product_f64(half, a), vdup(0.5)), vscaled_erfc_f64(vmul(a, vdup(0x1.6a09e667f3bcdp-1))));
  return vmul(x, vsel_below(x, vdup(0.0), tail, vsub(vdup(1.0), tail)));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
