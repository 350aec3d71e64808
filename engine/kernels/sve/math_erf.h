// erf, and the activations of networks: GELU, SiLU, Mish.
#pragma once
#include "engine/kernels/sve/math_exp.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// erf(x). At most 1.5 ULP; +-1 beyond 3.92, NaN for NaN.
/// |x| < 475/512: x + x P(x^2), P of degree 6 (9e-10). Beyond: 1 - exp(-a - a Q(a)), Q of degree 6 on [475/512, 4], fitted
/// to the error it makes in erf (8e-10); the argument of exp stays above -19, so that 2^n needs no care.
SVENGINE_INLINE vf verf(vf x) {
  const vf s = vmul(x, x);
  const vf P = vpoly(s, 0x1.4f58d2p-14f, -0x1.a6072cp-11f, 0x1.5449e8p-8f, -0x1.b80118p-6f, 0x1.ce2d64p-4f, -0x1.81274p-2f,
                     0x1.06eba8p-3f);
  const vf near = vfma(P, x, x);
  const vf a = vmin(vabs(x), vdup(4.0f));
  const vf Q = vpoly(a, -0x1.82aa76p-17f, 0x1.559024p-12f, -0x1.defeap-9f, 0x1.85bbeap-6f, -0x1.b34476p-4f, -0x1.453034p-1f,
                     -0x1.077b2ep-3f);
  const vf t = vfma(Q, a, vneg(a));
  const vf z = vfma(t, vdup(kLog2e), vdup(kExponentShift));
  const vf r = vfnma(vsub(z, vdup(kExponentShift)), vdup(kLn2Hi), t);  // |t| < 19 needs no second part of ln 2
  const vf far = vfnma(vexp_reduced(r), vfloat(vshl<23>(vbits(z))), vdup(1.0f));
  return vsel(vlt(a, vdup(475.0f / 512)), near, vwith_sign(far, x));
}

/// x (1 + erf(x / sqrt 2)) / 2. Error at most 1.5 * 2^-24 |x| (as in any formula that adds 1 to erf: where x is far below
/// zero the result is small and the error is relative to x).
SVENGINE_INLINE vf vgelu(vf x) {
  const vf half = vmul(x, vdup(0.5f));
  return vfma(half, verf(vmul(x, vdup(0x1.6a09e6p-1f))), half);
}

/// x / (1 + exp(-x)). At most 4 ULP; results smaller than 2^-118 may be 0.
SVENGINE_INLINE vf vsilu(vf x) { return vmul(x, vsigmoid(x)); }

/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 = x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)).
/// Relative error at most 2^-21 plus that of the rounded argument, |x|^3 2^-24 for large negative x.
SVENGINE_INLINE vf vgelu_tanh(vf x) {
  constexpr float kScale = 1.5957691216057308f;  // 2 sqrt(2 / pi)
  const vf u = vmul(x, vfma(vmul(x, x), vdup(kScale * 0.044715f), vdup(kScale)));
  return vmul(x, vsigmoid(u));
}

/// x tanh(log(1 + exp(x))) = x n / (n + 2) with n = exp(x) (exp(x) + 2). At most 4 ULP; smaller results than 2^-118 to 2^-118.
SVENGINE_INLINE vf vmish(vf x) {
  const vf e = vexp(vmin(x, vdup(20.0f)));
  const vf n = vmul(e, vadd(e, vdup(2.0f)));
  return vmul(x, vdiv_normal(n, vadd(n, vdup(2.0f))));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
