// Reciprocal, division and roots. On A64FX a vector FDIV or FSQRT blocks a pipe for 98 cycles, so they are made of the 8-bit
// estimates and Newton steps there (kMachine.newton_divide); elsewhere the processor's own instruction is faster. AVX-512's takes 16 cycles,
// and its estimates have 14 bits: no step, but the residual, makes quotients of normal numbers of them (kMachine.estimate_divide).
//
// Each Newton step doubles the correct bits: 8, 16, then a residual computed with a fused multiply-add ends at the rounding
// of the last operation. FRECPS and FRSQRTS define 0 x infinity, so that zeros and infinities come out right.
#pragma once
#include "engine/kernels/sve/math/many.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// 1 / x for x that is not subnormal. At most 2 ULP; as division for +-0, +-infinity, NaN. Below FLT_MIN the result may be
/// what flushing subnormals gives.
template <class V>
SVENGINE_INLINE V vrecip(V x) {
  if constexpr (!kMachine.newton_divide) {
    return veach([](vf v) SVENGINE_INLINE_LAMBDA { return vf(svdiv_x(svptrue_b32(), vdup(1.0f), v)); }, x);
  } else {
    V y = vestimate(x);
    y = vmul(y, vnewton(x, y));
    return vmul(y, vnewton(x, y));
  }
}

/// 1 / b to more than the half of a float's bits.
template <class V>
SVENGINE_INLINE V vestimate_for_quotient(V b) {
  const V y = vestimate(b);
  if constexpr (sve_reciprocal::kBits > 12) return y;
  else return vmul(y, vnewton(b, y));
}

/// a / b for finite a and normal |b| < 2^126 with a normal or zero quotient: at most 1 ULP. Where |a| < 2^-100 the residual
/// may underflow, which leaves the estimate's relative error, 2^-14, when subnormals are flushed. One operation more than vrecip.
template <class V>
SVENGINE_INLINE V vdiv_normal(V a, V b) {
  if constexpr (!kMachine.estimate_divide) {
    return veach([](vf x, vf y) SVENGINE_INLINE_LAMBDA { return vf(svdiv_x(svptrue_b32(), x, y)); }, a, b);
  } else {
    const V y = vestimate_for_quotient(b);
    const V q = vmul(a, y);
    return vfma(vfnma(q, b, a), y, q);
  }
}

/// The same for b > 0, and -0 for a = -0. x is 0 where a is, and only there.
template <class V>
SVENGINE_INLINE V vdiv_signed(V a, V b, V x) {
  if constexpr (!kMachine.estimate_divide) {
    return vdiv_normal(a, b);
  } else {
    const V y = vestimate_for_quotient(b);
    const V q = vmul(a, y);
    return vfma_unless_zero(x, q, vfnma(q, b, a), y);
  }
}

/// 1 / sqrt(x). At most 2 ULP, as 1 / sqrt(x) in IEEE arithmetic for +-0, infinity, NaN and below zero.
SVENGINE_INLINE vf vrsqrt(vf x) {
  if constexpr (!kMachine.newton_divide) {
    return svdiv_x(svptrue_b32(), vdup(1.0f), svsqrt_x(svptrue_b32(), x));
  } else {
    const vf estimate = svrsqrte(x);
    vf y = vmul(estimate, svrsqrts(vmul(x, estimate), estimate));
    y = vmul(y, svrsqrts(vmul(x, y), y));
    return vsel(svcmplt(vgt(x, vdup(0.0f)), x, vdup(kInfinity)), y, estimate);
  }
}

/// sqrt(x). At most 1 ULP; x for +-0 and +infinity, NaN below zero.
SVENGINE_INLINE vf vsqrt(vf x) {
  if constexpr (!kMachine.newton_divide) {
    return svsqrt_x(svptrue_b32(), x);
  } else {
    vf y = svrsqrte(x);
    y = vmul(y, svrsqrts(vmul(x, y), y));
    const vf s = vmul(x, y);
    const vf root = vfma(vfnma(s, y, vdup(1.0f)), vmul(s, vdup(0.5f)), s);
    const vf other = vsel(vlt(x, vdup(0.0f)), vdup(kQuietNaN), x);
    return vsel(svcmplt(vgt(x, vdup(0.0f)), x, vdup(kInfinity)), root, other);
  }
}

/// a / b for everything: at most 0.51 ULP. Where the steps could leave the range of floats, or meet zero, infinity or NaN,
/// the processor's division takes over lane by lane; vectors without such lanes never wait for it.
SVENGINE_INLINE vf vdiv(vf a, vf b) {
  const vb all = svptrue_b32();
  if constexpr (!kMachine.newton_divide) {
    return svdiv_x(all, a, b);
  } else {
    const vf q = vdiv_signed(a, b, a), a_size = vabs(a), b_size = vabs(b);
    const vb bounded = svcmplt(svcmplt(svcmpgt(all, b_size, vdup(0x1p-60f)), b_size, vdup(0x1p60f)), a_size, vdup(0x1p60f));
    const vb tiny = svcmplt(vne(a, vdup(0.0f)), a_size, vdup(0x1p-64f));
    const vb rest = svorr_z(all, svnot_z(all, bounded), tiny);
    if (svptest_any(all, rest)) [[unlikely]] return vsel(rest, svdiv_x(all, a, b), q);
    return q;
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
