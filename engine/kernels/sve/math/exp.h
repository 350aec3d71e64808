// exp, expm1 and what is made of them: tanh, sigmoid, sinh, cosh.
//
// exp(x) = 2^n exp(r) with n = round(x / ln 2) and r = x - n ln 2 in [-0.347, 0.347]. Adding 1.5 * 2^23 rounds x / ln 2 to
// an integer that can be read from the low bits of the sum:
//
//     z = x log2(e) + 1.5 * 2^23          0x4B400000 + n as bits
//     n = z - 1.5 * 2^23                  as float, for r = x - n ln2_hi - n ln2_lo
//     2^n                                 from the bits of z: FSCALE, or (with 127 more in the constant) a shift by 23
//
// exp(r) = 1 + r + r^2 q(r), q of degree 4: minimax in relative error (3e-9), found with a Remez exchange.
//
// Where FEXPA looks up 2^(i/64) (kMachine.table_exp), x / ln 2 is rounded to 64ths instead and |r| <= R = ln(2) / 128, where
// 1 + (1 + R^2 / 8) r + r^2 / 2 is the parabola nearest to exp(r) (the cubic term's best line added: 7e-9):
//
//     z = x log2(e) + 1.5 * 2^17 + 127    bits 5..0: i, bits 13..6: the exponent field of 2^n
#pragma once
#include "engine/kernels/sve/math/divide.h"
#include "engine/kernels/sve/math/many.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr float kLog2e = 0x1.715476p+0f;
inline constexpr float kLn2Hi = 0x1.62e43p-1f, kLn2Lo = -0x1.05c61p-29f;
inline constexpr float kRoundShift = 0x1.8p23f;             // x + kRoundShift has round(x) in its low bits
inline constexpr float kExponentShift = 0x1.8p23f + 127.0f;  // and here the exponent field of 2^round(x)
inline constexpr float kTableShift = 0x1.8p17f + 127.0f;     // and here FEXPA's index of 2^(round(64 x) / 64)

inline constexpr float kTableSlope = 0x1.00003ep+0f;         // 1 + R^2 / 8

inline constexpr float kExpm1Series[] = {0x1.6cd7aep-10f, 0x1.122c5p-7f, 0x1.555538p-5f, 0x1.5554aap-3f, 0.5f};
inline constexpr float kExpSeries[] = {0x1.6ab89ep-10f, 0x1.123d7p-7f, 0x1.55585ap-5f, 0x1.55548cp-3f, 0x1.fffffcp-2f};

/// exp(r) - 1 = r + r^2 q(r) for |r| <= ln(2) / 2.
template <Coefficients kWhere = Coefficients::kRegisters>
SVENGINE_INLINE vf vexpm1_reduced(vf r) {
  const vf q = vpoly_of<kWhere>(r, kExpm1Series);
  return vfma(vmul(r, q), r, r);
}

/// exp(r) for |r| <= ln(2) / 2.
template <Coefficients kWhere = Coefficients::kRegisters, class V>
SVENGINE_INLINE V vexp_reduced(V r) {
  const V q = vpoly_of<kWhere>(r, kExpSeries);
  return vfma(vfma(q, r, vdup(1.0f)), r, vdup(1.0f));
}

/// x - n ln 2. As multiply-adds of negative constants, which leave x in its register (FMSB, the compiler's choice otherwise,
/// is missing from LLVM's model of A64FX).
template <class V>
SVENGINE_INLINE V vsub_n_ln2(V x, V n) {
  return vfma(n, vdup(-kLn2Lo), vfma(n, vdup(-kLn2Hi), x));
}

/// 2^k exp(x), k a small integer: the scale costs nothing, and neither overflow nor underflow comes early.
template <int kScale = 0, Coefficients kWhere = Coefficients::kRegisters>
SVENGINE_INLINE vf vexp_scaled(vf x) {
  x = vmin(vmax(x, -104.0f), 90.0f);
  const vf z = vfma(x, vdup(kLog2e), vdup(kRoundShift));
  const vi n = vsub_int(vbits(z), vdup_int(__builtin_bit_cast(int32_t, kRoundShift) - kScale));
  return svscale_x(svptrue_b32(), vexp_reduced<kWhere>(vsub_n_ln2(x, vsub(z, vdup(kRoundShift)))), n);
}

/// exp(x). At most 1.5 ULP; gradual underflow to 0 (below -103.98), +infinity above 88.72, NaN for NaN.
SVENGINE_INLINE vf vexp(vf x) { return vexp_scaled(x); }

/// exp(x) by FEXPA for |x| <= 87.3: at most 1.5 ULP. NaN for NaN, rubbish beyond.
template <class V>
SVENGINE_INLINE V vexp_by_table(V x) {
  const V z = vfma(x, vdup(kLog2e), vdup(kTableShift));
  const V r = vsub_n_ln2(x, vsub(z, vdup(kTableShift)));
  const V p = vmul(r, vfma(r, vdup(0.5f), vdup(kTableSlope)));
  const V power = vtable_power(z);
  return vfma(power, p, power);
}

/// What vexp_by_table can do.
inline constexpr float kTableExpLimit = 87.3f;

/// exp(x) for softmax and sigmoid, cheaper in AVX2 code: at most 1.5 ULP between -87.3 and 88.3; below it stays at about
/// FLT_MIN, above it is +infinity. NaN for NaN.
SVENGINE_INLINE vf vexp_clamped(vf x) {
  x = vmin(vmax(x, -87.3f), 88.8f);
  const vf z = vfma(x, vdup(kLog2e), vdup(kExponentShift));
  const vf power = vfloat(vshl<23>(vbits(z)));
  return vmul(vexp_reduced(vsub_n_ln2(x, vsub(z, vdup(kExponentShift)))), power);
}

/// exp(x) - 1. At most 1.5 ULP, +infinity above 88.72, NaN for NaN.
template <Coefficients kWhere = Coefficients::kRegisters>
SVENGINE_INLINE vf vexpm1(vf x) {
  x = vmin(vmax(x, -40.0f), 88.8f);
  const vf z = vfma(x, vdup(kLog2e), vdup(kRoundShift));
  const vf p = vexpm1_reduced<kWhere>(vsub_n_ln2(x, vsub(z, vdup(kRoundShift))));
  // Halved, so that 2^n with n = 128 is representable: exp(x) - 1 = 2 (2^(n-1) p + (2^(n-1) - 1/2)).
  const vf half = svscale_x(svptrue_b32(), vdup(0.5f), vsub_int(vbits(z), vdup_int(__builtin_bit_cast(int32_t, kRoundShift))));
  return vmul(vfma(p, half, vsub(half, vdup(0.5f))), vdup(2.0f));
}

inline constexpr float kTanhSeries[] = {0x1.6cd7aep-5f, 0x1.122c5p-3f, 0x1.555538p-2f, 0x1.5554aap-1f, 1.0f};

/// tanh(x) = h / (h + 1) with h = (exp(2 x) - 1) / 2. At most 2.5 ULP; +-1 beyond 9.1, NaN for NaN.
/// The halves are in the constants: with r = x - n ln(2) / 2, (exp(2 r) - 1) / 2 = r + r^2 2 q(2 r).
/// A zero keeps its sign, or is +0 without kSignOfZero, which takes a comparison less.
template <Coefficients kWhere = Coefficients::kRegisters, bool kSignOfZero = true, class V>
SVENGINE_INLINE V vtanh(V x) {
  const V y = vmin(vmax(x, -9.1f), 9.1f);
  const V z = vfma(y, vdup(2 * kLog2e), vdup(kExponentShift));
  const V n = vsub(z, vdup(kExponentShift));
  const V r = vfma(n, vdup(-0.5f * kLn2Hi), y);  // |n| <= 26 and tanh flattens: no second part of ln 2
  const V q = vpoly_of<kWhere>(r, kTanhSeries);
  const V power = vpower_of_shifted(z);
  const V rest = vfma(power, vdup(0.5f), vdup(-0.5f));
  if constexpr (kSignOfZero) {
    const V p = vfma_unless_zero(y, r, vmul(r, q), r);
    const V h = vmad_unless_zero(y, p, power, rest);
    return vdiv_signed(h, vadd(h, vdup(1.0f)), y);
  } else {
    const V h = vfma(vfma(vmul(r, q), r, r), power, rest);
    return vdiv_normal(h, vadd(h, vdup(1.0f)));
  }
}

/// 1 / (1 + exp(-x)) by FEXPA for |x| <= kTableExpLimit: at most 3.2 ULP (3.12 at -16.66, where exp(-x) + 1 is halfway between
/// two floats, is the worst of every 41st float). NaN for NaN, rubbish beyond.
template <class V>
SVENGINE_INLINE V vsigmoid_by_table(V x) {
  const V z = vfma(x, vdup(-kLog2e), vdup(kTableShift));
  const V n = vsub(z, vdup(kTableShift));
  const V r = vfma(n, vdup(kLn2Lo), vfma(n, vdup(kLn2Hi), x));  // of the opposite sign: exp(-r) = 1 + r (r / 2 - 1)
  const V power = vtable_power(z);
  const V d = vadd(vfma(power, vmul(r, vfma(r, vdup(0.5f), vdup(-kTableSlope))), power), vdup(1.0f));
  // One step of third order, q (1 + e + e^2) with e = 1 - d q, would save an operation, but adds the 2^-24 that it leaves.
  V q = vestimate(d);
  q = vmul(q, vnewton(d, q));
  return vfma(q, vfnma(d, q, vdup(1.0f)), q);  // d is finite, so the residual may be taken: it rounds less than FRECPS
}

/// 1 / (1 + exp(-x)). At most 3 ULP (by FEXPA 3.2, see above) where normal (x > -87.3), below that it underflows to 0 by -88.8;
/// NaN for NaN.
template <class V>
SVENGINE_INLINE V vsigmoid(V x) {
  if constexpr (!kMachine.table_exp) {
    return veach([](vf v) SVENGINE_INLINE_LAMBDA { return vrecip(vadd(vexp_clamped(vneg(v)), vdup(1.0f))); }, x);
  } else {
    return vzero_below(x, vdup(-88.3f), vsigmoid_by_table(vmin(x, kTableExpLimit)));
  }
}

/// sinh(x). At most 3 ULP.
SVENGINE_INLINE vf vsinh(vf x) {
  const vf a = vabs(x);
  const vf small = vmin(a, 20.0f);
  const vf t = vexpm1<Coefficients::kMemory>(small);
  const vf near = vmul(vdup(0.5f), vadd(t, vdiv_normal(t, vadd(t, vdup(1.0f)))));
  return vwith_sign(vsel(vgt(a, vdup(18.0f)), vexp_scaled<-1, Coefficients::kMemory>(a), near), x);
}

/// cosh(x). At most 2 ULP.
SVENGINE_INLINE vf vcosh(vf x) {
  const vf half = vexp_scaled<-1>(vabs(x));
  const vf rest = vdiv_normal(vdup(0.25f), vmin(half, 0x1p40f));
  return vadd(half, rest);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
