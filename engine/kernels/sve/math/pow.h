// pow: exp2(y log2|x|) with the logarithm and the product carried in two floats, because an error of 2^-24 in log2|x| would
// become one of 2^-17 in the result when the product is near 128.
//
// |x| = 2^e m, m in [sqrt 1/2, sqrt 2); q = (m - 1) / (m + 1); log2(m) = 2 log2(e) (q + q^3 / 3 + ...).
#pragma once
#include "engine/kernels/sve/math/exp.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

struct TwoFloats {
  vf high, low;
};

/// log2(a) for 0 <= a or NaN, relative error about 2^-30; `low` is 0 where the result is infinite.
SVENGINE_INLINE TwoFloats vlog2_extended(vf a) {
  const vb tiny = vlt(a, vdup(kFloatMin));
  const vi bits = vbits(vsel(tiny, vmul(a, vdup(0x1p23f)), a));
  const vi e_bits = vand_int(vsub_int(bits, vdup_int(0x3f3504f3)), vdup_int(-0x800000));
  const vf m = vfloat(vsub_int(bits, e_bits));
  const vf e = vadd(vmul(vto_float(e_bits), vdup(0x1p-23f)), vsel(tiny, vdup(-23.0f), vdup(0.0f)));

  const vf above = vsub(m, vdup(1.0f));
  const vf sum = vadd(m, vdup(1.0f));
  const vf sum_low = vsub(m, vsub(sum, vdup(1.0f)));
  const vf y = vrecip(sum);
  const vf estimate = vmul(above, y);
  const vf rest = vmul(vfnma(estimate, sum_low, vfnma(estimate, sum, above)), y);
  const vf q = vadd(estimate, rest);  // rounded, so that its cube is good too
  const vf q_low = vsub(rest, vsub(q, estimate));

  constexpr float kHi = 0x1.715476p+1f, kLo = 0x1.4ae0cp-25f;  // 2 log2(e)
  const vf t = vmul(q, q);
  const vf T = vpoly(t, 0x1.589068p-2f, 0x1.a5d046p-2f, 0x1.2776ep-1f, 0x1.ec709ep-1f);
  const vf main = vmul(q, vdup(kHi));
  vf low = vfma(q, vdup(kLo), vfma(q, vdup(kHi), vneg(main)));
  low = vfma(q_low, vdup(kHi), low);
  low = vfma(vmul(q, t), T, low);
  const vf s = vadd(e, main);
  low = vadd(low, vsub(main, vsub(s, e)));  // |e| >= 1 > |main|, or e = 0
  const vf high = vadd(s, low);
  low = vsub(low, vsub(high, s));

  const vb regular = svcmplt(vgt(a, vdup(0.0f)), a, vdup(kInfinity));
  const vf special = vsel(veq(a, vdup(0.0f)), vdup(-kInfinity), a);
  return {vsel(regular, high, special), vsel(regular, low, vdup(0.0f))};
}

/// x^y with the special cases of IEEE 754 pow. At most 4 ULP, gradual underflow.
SVENGINE_INLINE vf vpow(vf x, vf y) {
  const vf a = vabs(x);
  const TwoFloats log2 = vlog2_extended(a);
  const vf p = vmul(y, log2.high);
  const vf p_low = vfma(y, log2.low, vfma(y, log2.high, vneg(p)));
  const vf high = vmin(vmax(p, -200.0f), 200.0f);
  const vf z = vadd(high, vdup(kRoundShift));
  const vf low = vsel(vlt(vabs(p), vdup(200.0f)), p_low, vdup(0.0f));
  const vf r = vadd(vsub(high, vsub(z, vdup(kRoundShift))), low);
  const vf C = vpoly(r, 0x1.4c197cp-13f, 0x1.5fc1e6p-10f, 0x1.3b217ap-7f, 0x1.c6ada8p-5f, 0x1.ebfbe6p-3f, 0x1.62e432p-1f);
  const vi n = vsub_int(vbits(z), vdup_int(__builtin_bit_cast(int32_t, kRoundShift)));
  vf power = svscale_x(svptrue_b32(), vfma(C, r, vdup(1.0f)), n);

  const vb integer = veq(vrint(y), y);  // infinities are even integers
  const vf half = vmul(y, vdup(0.5f));
  const vb odd = svcmpne(integer, vrint(half), half);
  power = vfloat(vor_int(vbits(power), vsel(odd, vand_int(vbits(x), vdup_int(kSignBit)), vdup_int(0))));
  const vb finite_negative = svcmpgt(vlt(x, vdup(0.0f)), x, vdup(-kInfinity));
  power = vsel(svcmpne(finite_negative, vrint(y), y), vdup(kQuietNaN), power);
  power = vsel(svcmpeq(veq(a, vdup(1.0f)), vabs(y), vdup(kInfinity)), vdup(1.0f), power);
  power = vsel(veq(x, vdup(1.0f)), vdup(1.0f), power);
  return vsel(veq(y, vdup(0.0f)), vdup(1.0f), power);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
