// Circular functions and their inverses.
//
// x = k pi/2 + r with |r| <= pi/4. Up to |x| = 2^16, k is the rounded product x 2/pi and r comes from three fused
// multiply-subtracts with a 72-bit pi/2 in three floats (Cody and Waite): the first is exact, so cancellation leaves no error.
// Beyond, lanes are reduced one by one in integers (Payne and Hanek): that path is slow, and taken only for vectors that
// hold such an x; a lane's value never depends on its neighbours.
#pragma once
#include "engine/kernels/sve/math/exp.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr float kCodyWaiteLimit = 65536.0f;

/// x = k pi/2 + r exactly reduced, from M * 2^e with the bits of 2/pi that matter: with W the 96 bits of 2/pi * 2^e from
/// weight 2 downwards (higher ones add multiples of 4 to M * 2/pi * 2^e), M * W mod 2^96 is k mod 4 and a 94-bit fraction.
inline void reduce_large(float x, float* r, int32_t* k) {
  constexpr uint32_t kTwoOverPi[9] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                      0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  const uint64_t mantissa = (bits & 0x7fffff) | 0x800000;
  const int first = int(bits >> 23 & 0xff) - 150 - 2 + 32;  // bit of kTwoOverPi that gets weight 2; 22 at least
  const int word = first >> 5, shift = first & 31;
  unsigned __int128 window = 0;
  for (int i = 0; i < 4; ++i) window = window << 32 | kTwoOverPi[word + i];
  window = window << shift >> 32;  // its upper 96 bits after the shift
  const unsigned __int128 product = (window * mantissa) << 32;  // k in the two highest bits
  const int64_t high = int64_t(product >> 64);
  const int64_t rounded = int64_t((uint64_t(high) + (uint64_t(1) << 61)) >> 62);
  const __int128 fraction = __int128(product - (static_cast<unsigned __int128>(rounded) << 126));
  const double angle = double(int64_t(fraction >> 63)) * (0x1.921fb54442d18p0 * 0x1p-63);
  const bool negative = bits >> 31;
  *r = float(negative ? -angle : angle);
  *k = int32_t(negative ? -rounded : rounded);
}

struct Reduced {
  vf r;  // in [-pi/4, pi/4]
  vi k;  // its two lowest bits count
};

[[gnu::noinline]] inline Reduced vreduce_large(vf x, Reduced near) {
  float xs[kLanes], rs[kLanes];
  int32_t ks[kLanes];
  svst1(svptrue_b32(), xs, x);
  svst1(svptrue_b32(), rs, near.r);
  svst1(svptrue_b32(), ks, near.k);
  for (int i = 0; i < kLanes; ++i) {
    const float a = __builtin_fabsf(xs[i]);
    if (a > kCodyWaiteLimit && a < kInfinity) reduce_large(xs[i], &rs[i], &ks[i]);
    if (a == kInfinity) rs[i] = kQuietNaN;
  }
  return {svld1(svptrue_b32(), rs), svld1(svptrue_b32(), ks)};
}

SVENGINE_INLINE Reduced vreduce(vf x) {
  constexpr float kHi = 0x1.921fb6p+0f, kMid = -0x1.777a5cp-25f, kLo = -0x1.ee59dap-50f;
  const vf z = vfma(x, vdup(0x1.45f306p-1f), vdup(kRoundShift));
  const vf k = vsub(z, vdup(kRoundShift));
  const Reduced near{vfnma(k, vdup(kLo), vfnma(k, vdup(kMid), vfnma(k, vdup(kHi), x))), vbits(z)};
  const vb large = vgt(vabs(x), vdup(kCodyWaiteLimit));
  if (svptest_any(svptrue_b32(), large)) [[unlikely]] return vreduce_large(x, near);
  return near;
}

/// sin(r) = r + r^3 S(r^2), |r| <= pi/4 (4e-9).
SVENGINE_INLINE vf vsin_reduced(vf r) {
  const vf s = vmul(r, r);
  return vfma(vmul(r, s), vpoly(s, -0x1.9955aep-13f, 0x1.11077cp-7f, -0x1.555546p-3f), r);
}

/// cos(r) = 1 - r^2 / 2 + r^4 C(r^2), |r| <= pi/4 (1e-10).
SVENGINE_INLINE vf vcos_reduced(vf r) {
  const vf s = vmul(r, r);
  const vf C = vpoly(s, 0x1.99e80cp-16f, -0x1.6c0c28p-10f, 0x1.55554ap-5f, -0.5f);
  return vfma(C, s, vdup(1.0f));
}

/// sin of the angle (k + kQuarters) pi/2 + r.
template <int kQuarters>
SVENGINE_INLINE vf vsin_at(const Reduced& a) {
  const vi k = vadd_int(a.k, vdup_int(kQuarters));
  const vb odd = svcmpne(svptrue_b32(), vand_int(k, vdup_int(1)), vdup_int(0));
  const vf r = vsel(odd, vcos_reduced(a.r), vsin_reduced(a.r));
  return vfloat(vxor_int(vbits(r), vshl<30>(vand_int(k, vdup_int(2)))));  // halves 2 and 3: the other sign
}

/// sin(x), cos(x). At most 2 ULP for every finite x; NaN for infinities.
SVENGINE_INLINE vf vsin(vf x) { return vkeep_zero(x, vsin_at<0>(vreduce(x))); }
SVENGINE_INLINE vf vcos(vf x) { return vsin_at<1>(vreduce(x)); }

/// tan(x). At most 4 ULP for every finite x; NaN for infinities. tan(r) = r + r^3 T(r^2) (2e-8), or its -1 / tan(r).
SVENGINE_INLINE vf vtan(vf x) {
  const Reduced a = vreduce(x);
  const vf s = vmul(a.r, a.r);
  const vf T = vpoly(s, 0x1.369358p-7f, 0x1.831416p-9f, 0x1.9217aep-6f, 0x1.b544760p-5f, 0x1.113014p-3f, 0x1.5554d2p-2f);
  const vf t = vfma(vmul(a.r, s), T, a.r);
  const vb odd = svcmpne(svptrue_b32(), vand_int(a.k, vdup_int(1)), vdup_int(0));
  return vkeep_zero(x, vsel(odd, vdiv_normal(vdup(-1.0f), vsel(odd, t, vdup(1.0f))), t));
}

/// atan(x). At most 3 ULP. atan(a) = a + a^3 A(a^2) on [0, 1] (2e-8); beyond, pi/2 - atan(1 / a).
SVENGINE_INLINE vf vatan(vf x) {
  const vf a = vabs(x);
  const vb beyond = vgt(a, vdup(1.0f));
  const vf t = vsel(beyond, vdiv_normal(vdup(1.0f), vmin(vsel(beyond, a, vdup(1.0f)), 0x1p100f)), a);
  const vf s = vmul(t, t);
  const vf A = vpoly(s, 0x1.8602a4p-9f, -0x1.0fbaecp-6f, 0x1.64d824p-5f, -0x1.36862ap-4f, 0x1.b56bc4p-4f, -0x1.231bcap-3f,
                     0x1.997aeap-3f, -0x1.5554e6p-2f);
  const vf r = vfma(vmul(t, s), A, t);
  return vwith_sign(vsel(beyond, vsub(vdup(0x1.921fb6p+0f), r), r), x);
}

/// asin(t) = t + t^3 A(t^2) for 0 <= t <= 1/2 (5e-9), given s = t^2.
SVENGINE_INLINE vf vasin_reduced(vf t, vf s) {
  const vf A = vpoly(s, 0x1.59dd54p-5f, 0x1.8ba496p-6f, 0x1.748b78p-5f, 0x1.330162p-4f, 0x1.5555cap-3f);
  return vfma(vmul(t, s), A, t);
}

/// asin(x) and acos(x). At most 3 ULP; NaN beyond 1. Above 1/2: asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
SVENGINE_INLINE vf vasin(vf x) {
  const vf a = vabs(x);
  const vb large = vgt(a, vdup(0.5f));
  const vf s = vsel(large, vfnma(a, vdup(0.5f), vdup(0.5f)), vmul(a, a));
  const vf r = vasin_reduced(vsel(large, vsqrt(s), a), s);
  return vwith_sign(vsel(large, vfnma(r, vdup(2.0f), vdup(0x1.921fb6p+0f)), r), x);
}

SVENGINE_INLINE vf vacos(vf x) {
  const vf a = vabs(x);
  const vb large = vgt(a, vdup(0.5f));
  const vb negative = vlt(x, vdup(0.0f));
  const vf s = vsel(large, vfnma(a, vdup(0.5f), vdup(0.5f)), vmul(a, a));
  const vf r = vasin_reduced(vsel(large, vsqrt(s), a), s);
  const vf twice = vadd(r, r);
  const vf far = vsel(negative, vsub(vdup(0x1.921fb6p+1f), twice), twice);
  const vf near = vsub(vdup(0x1.921fb6p+0f), vsub(vsel(negative, vneg(r), r), vdup(-0x1.777a5cp-25f)));
  return vsel(large, far, near);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
