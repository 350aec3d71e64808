// Logarithms: x = 2^e (1 + m) with 1 + m in [0.75, 1.5), log(x) = e ln 2 + log(1 + m).
//
// Subtracting the bits of 0.75 puts e, and nothing else, above bit 23; subtracting e back leaves 1 + m, and m is exact.
// log(1 + m) = m - m^2 / 2 + m^3 P(m), P of degree 7: minimax in error relative to m (5.5e-9), found with a Remez exchange.
#pragma once
#include "engine/kernels/sve/math/exp.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int32_t kBitsOfThreeQuarters = 0x3f400000;
inline constexpr int32_t kExponentMask = -0x800000;  // 0xff800000

inline constexpr float kLogSeries[] = {-0x1.7a2fcep-5f,  0x1.b178cp-4f,  -0x1.0e124ap-3f, 0x1.284cbcp-3f,
                                       -0x1.54dd16p-3f, 0x1.996adep-3f, -0x1.000082p-2f, 0x1.5555a2p-2f};

/// e ln 2 + log(1 + m) for m in [-0.25, 0.5] and `e_bits` = e * 2^23.
template <Coefficients kWhere = Coefficients::kRegisters>
SVENGINE_INLINE vf vlog_reduced(vf m, vi e_bits) {
  const vf n = vto_float(e_bits);  // e * 2^23, exactly
  const vf P = vpoly_of<kWhere>(m, kLogSeries);
  const vf square = vmul(m, m);
  const vf tail = vfma(n, vdup(kLn2Lo * 0x1p-23f), vmul(square, vfma(P, m, vdup(-0.5f))));
  return vfma(n, vdup(kLn2Hi * 0x1p-23f), vadd(m, tail));
}

/// log(x). At most 1.5 ULP, subnormals included; -infinity for +-0, NaN below zero and for NaN, +infinity for +infinity.
SVENGINE_INLINE vf vlog(vf x) {
  const vb tiny = vlt(x, vdup(kFloatMin));
  const vi bits = vbits(vsel(tiny, vmul(x, vdup(0x1p23f)), x));
  const vi e = vand_int(vsub_int(bits, vdup_int(kBitsOfThreeQuarters)), vdup_int(kExponentMask));
  const vf m = vsub(vfloat(vsub_int(bits, e)), vdup(1.0f));
  const vf r = vlog_reduced(m, vsel(tiny, vsub_int(e, vdup_int(23 << 23)), e));
  const vf special = vsel(veq(x, vdup(0.0f)), vdup(-kInfinity), vsel(vlt(x, vdup(0.0f)), vdup(kQuietNaN), x));
  return vsel(svcmplt(vgt(x, vdup(0.0f)), x, vdup(kInfinity)), r, special);
}

/// log(1 + x). At most 2 ULP; -infinity at -1, NaN below, +infinity for +infinity.
/// 1 + m = (1 + x) 2^-e, so m = x 2^-e + (2^-e - 1): no digit of a small x is lost in 1 + x.
template <Coefficients kWhere = Coefficients::kRegisters>
SVENGINE_INLINE vf vlog1p(vf x) {
  const vi bits = vbits(vadd(x, vdup(1.0f)));
  const vi e = vand_int(vsub_int(bits, vdup_int(kBitsOfThreeQuarters)), vdup_int(kExponentMask));
  const vf four = vfloat(vsub_int(vdup_int(0x40800000), e));  // 4 * 2^-e: e may be 128
  const vf m = vadd(vfloat(vsub_int(vbits(x), e)), vfma(four, vdup(0.25f), vdup(-1.0f)));
  const vf r = vlog_reduced<kWhere>(m, e);
  const vf special = vsel(veq(x, vdup(-1.0f)), vdup(-kInfinity), vsel(vlt(x, vdup(-1.0f)), vdup(kQuietNaN), x));
  return vsel(svcmplt(vgt(x, vdup(-1.0f)), x, vdup(kInfinity)), r, special);
}

/// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)). At most 2 ULP; NaN for NaN.
SVENGINE_INLINE vf vsoftplus(vf x) {
  constexpr Coefficients kWhere = Coefficients::kMemory;
  return vadd(vmax(x, 0.0f), vlog1p<kWhere>(vexp_scaled<0, kWhere>(vneg(vabs(x)))));
}

/// asinh(x) = sign(x) log1p(a + a^2 / (1 + sqrt(1 + a^2))), a = |x|; log(a) + ln 2 for large a. At most 3 ULP.
SVENGINE_INLINE vf vasinh(vf x) {
  const vf a = vabs(x);
  const vb large = vgt(a, vdup(0x1p26f));
  const vf b = vsel(large, vdup(1.0f), a);
  const vf square = vmul(b, b);
  const vf root = vsqrt(vadd(square, vdup(1.0f)));
  const vf near = vadd(b, vdiv_normal(square, vadd(root, vdup(1.0f))));
  const vf r = vadd(vlog1p(vsel(large, a, near)), vsel(large, vdup(kLn2Hi), vdup(0.0f)));
  return vwith_sign(r, x);
}

/// acosh(x) = log1p(t + sqrt(2 t + t^2)), t = x - 1; NaN below 1. At most 3 ULP.
SVENGINE_INLINE vf vacosh(vf x) {
  const vb large = vgt(x, vdup(0x1p26f));
  const vf t = vsub(x, vdup(1.0f));
  const vf u = vsel(large, vdup(1.0f), t);
  const vf near = vadd(u, vsqrt(vfma(u, u, vadd(u, u))));
  const vf r = vadd(vlog1p(vsel(large, t, near)), vsel(large, vdup(kLn2Hi), vdup(0.0f)));
  return vsel(vlt(x, vdup(1.0f)), vdup(kQuietNaN), r);
}

/// atanh(x) = sign(x) log1p(2 a / (1 - a)) / 2, a = |x|; NaN beyond 1. At most 3 ULP.
SVENGINE_INLINE vf vatanh(vf x) {
  const vf a = vabs(x);
  const vf rest = vsub(vdup(1.0f), a);
  const vf ratio = vdiv_normal(vadd(a, a), vsel(veq(rest, vdup(0.0f)), vdup(1.0f), rest));
  const vf r = vmul(vdup(0.5f), vlog1p(vsel(vlt(a, vdup(1.0f)), ratio, vdup(kInfinity))));
  return vwith_sign(vsel(vle(a, vdup(1.0f)), r, vdup(kQuietNaN)), x);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
