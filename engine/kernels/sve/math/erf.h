// erf and Mish. The activations that products can end in are in activation.h.
#pragma once
#include "engine/kernels/sve/math/exp.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr float kErfNear[] = {0x1.4f58d2p-14f, -0x1.a6072cp-11f, 0x1.5449e8p-8f, -0x1.b80118p-6f,
                                     0x1.ce2d64p-4f,  -0x1.81274p-2f,   0x1.06eba8p-3f};
inline constexpr float kErfFar[] = {-0x1.82aa76p-17f, 0x1.559024p-12f, -0x1.defeap-9f,  0x1.85bbeap-6f,
                                    -0x1.b34476p-4f,  -0x1.453034p-1f, -0x1.077b2ep-3f};

/// erf(x). At most 1.5 ULP; +-1 beyond 3.92, NaN for NaN.
/// |x| < 475/512: x + x P(x^2), P of degree 6 (9e-10). Beyond: 1 - exp(-a - a Q(a)), Q of degree 6 on [475/512, 4], fitted
/// to the error it makes in erf (8e-10); the argument of exp stays above -19, so that 2^n needs no care.
template <class V>
SVENGINE_INLINE V verf(V x) {
  constexpr Coefficients kWhere = Coefficients::kMemory;
  const V s = vmul(x, x);
  const V P = vpoly_of<kWhere>(s, kErfNear);
  const V near = vfma(P, x, x);
  const V a = vmin(vabs(x), 4.0f);
  const V Q = vpoly_of<kWhere>(a, kErfFar);
  const V t = vfma(Q, a, vneg(a));
  const V z = vfma(t, vdup(kLog2e), vdup(kExponentShift));
  const V r = vfnma(vsub(z, vdup(kExponentShift)), vdup(kLn2Hi), t);  // |t| < 19 needs no second part of ln 2
  const V far = vfnma(vexp_reduced<kWhere>(r), vpower_of_shifted(z), vdup(1.0f));
  return veach(
      [](vf size, vf small, vf large, vf sign) SVENGINE_INLINE_LAMBDA -> vf {
        return vsel(vlt(size, vdup(475.0f / 512)), small, vwith_sign(large, sign));
      },
      a, near, far, x);
}

inline constexpr float kGeluSeries[] = {-0x1.7c7edcp-19f, 0x1.4a52f2p-15f, -0x1.8672cp-13f, -0x1.1f2d28p-13f,
                                        0x1.cee886p-8f,   -0x1.ae0c78p-5f, -0x1.d63aacp-2f, -0x1.26aed4p+0f};

/// x Phi(x) = x (1 + erf(x / sqrt 2)) / 2. Within 1.5 ULP plus 1.5 * 2^-24 |x|; NaN for NaN and -infinity.
/// With a = |x| and E = 1 - Phi(a) both sides are max(x, 0) - a E, and log2 E = -1 + a P(a), P of degree 7, fitted on [0, 5.5]
/// to the error it makes in Phi (8e-9), by iterated weighted least squares. Beyond, P stays, so that E keeps falling and is 0
/// below 2^-126. x is bounded above only: infinity must not meet E = 0, minus infinity must. As max(x, -0), so that -0 stays.
template <Coefficients kWhere = Coefficients::kRegisters, class V>
SVENGINE_INLINE V vgelu(V x) {
  const V a = vabs(vmin(x, 5.5f));
  const V P = vpoly_of<kWhere>(vmin(a, 5.5f), kGeluSeries);
  const V y = vmax(vfma(a, P, vdup(-1.0f)), -127.0f);
  constexpr float kShift = kMachine.table_exp ? kTableShift : kExponentShift;
  const V z = vadd(y, vdup(kShift));
  const V f = vsub(y, vsub(z, vdup(kShift)));
  V E;
  if constexpr (kMachine.table_exp) {
    const V power = vtable_power(z);
    E = vfma(vmul(power, f), vfma(f, vdup(0.240226507f), vdup(0.693147181f)), power);  // (ln 2)^2 / 2, ln 2
  } else {
    E = vmul(vexp_reduced(vmul(f, vdup(kLn2Hi))), vpower_of_shifted(z));
  }
  return vfnma(a, E, vmax(x, -0.0f));
}

/// x tanh(log(1 + exp(x))) = x n / (n + 2) with n = exp(x) (exp(x) + 2). At most 4 ULP; smaller results than 2^-118 to 2^-118.
SVENGINE_INLINE vf vmish(vf x) {
  const vf e = vexp(vmin(x, 20.0f));
  const vf n = vmul(e, vadd(e, vdup(2.0f)));
  return vmul(x, vdiv_normal(n, vadd(n, vdup(2.0f))));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
