// Several vectors in lockstep: every step is done for all of them before the next.
//
// A function of vector mathematics is one long chain, and a step takes nine cycles on A64FX. Left alone, the compiler emits the
// chains one after the other, and the processor's window of 128 instructions holds hardly more than one; written like this they
// stand side by side:
//
//     one by one:  a0 a1 a2 a3 ... b0 b1 b2 b3 ...        in lockstep:  a0 b0 c0 d0  a1 b1 c1 d1  a2 b2 ...
//
// Functions that are templates of V take one vector (vf) or Many of them; every lane's arithmetic is the same, so results are
// bitwise equal. Operands that are one vector (constants) or a number go with every one of the many.
#pragma once
#include <reciprocal.h>

#include "engine/kernels/sve/math/base_f64.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

template <int N, class V = vf>
struct Many {
  V at[N];
};

template <class T>
inline constexpr int kManyOf = 0;  // how many vectors T holds, 0 for a single one
template <int N, class V>
inline constexpr int kManyOf<Many<N, V>> = N;

SVENGINE_INLINE vf vpick(vf x, int) { return x; }
SVENGINE_INLINE float vpick(float x, int) { return x; }
SVENGINE_INLINE vd vpick(vd x, int) { return x; }
SVENGINE_INLINE double vpick(double x, int) { return x; }
template <int N, class V>
SVENGINE_INLINE V vpick(const Many<N, V>& x, int i) {
  return x.at[i];
}

/// f of every one of the many, with single operands repeated.
template <class F, class... A>
SVENGINE_INLINE auto veach(const F& f, const A&... a) {
  constexpr int kCount = [](auto... count) {
    int most = 0;
    ((most = count > most ? count : most), ...);
    return most;
  }(kManyOf<A>...);
  if constexpr (kCount == 0) {
    return f(a...);
  } else {
    Many<kCount, decltype(f(vpick(a, 0)...))> y;
    SVENGINE_UNROLL
    for (int i = 0; i < kCount; ++i) y.at[i] = f(vpick(a, i)...);
    return y;
  }
}

template <class... A>
concept SomeMany = ((kManyOf<A> + ...) > 0);

#define SVENGINE_LOCKSTEP(name)                                                                           \
  template <class... A>                                                                                   \
  requires SomeMany<A...> SVENGINE_INLINE auto name(const A&... a) {                                       \
    return veach([](auto... x) SVENGINE_INLINE_LAMBDA { return name(x...); }, a...);              \
  }
SVENGINE_LOCKSTEP(vadd)
SVENGINE_LOCKSTEP(vsub)
SVENGINE_LOCKSTEP(vmul)
SVENGINE_LOCKSTEP(vfma)
SVENGINE_LOCKSTEP(vfnma)
SVENGINE_LOCKSTEP(vmax)
SVENGINE_LOCKSTEP(vmin)
SVENGINE_LOCKSTEP(vabs)
SVENGINE_LOCKSTEP(vneg)

/// 2^n for x = kExponentShift + n (math/exp.h), and 0 for n = -127.
SVENGINE_INLINE vf vpower_of_shifted(vf x) { return vfloat(vshl<23>(vbits(x))); }
SVENGINE_LOCKSTEP(vpower_of_shifted)
SVENGINE_LOCKSTEP(vwith_sign_of)
/// 2^(i / 64) for x = kTableShift + i / 64, correctly rounded, and 0 for i / 64 = -127: FEXPA.
SVENGINE_INLINE vf vtable_power(vf x) { return svexpa(svreinterpret_u32(x)); }
SVENGINE_LOCKSTEP(vtable_power)
/// 0 where x < limit, y elsewhere.
SVENGINE_INLINE vf vzero_below(vf x, vf limit, vf y) { return vsel(vlt(x, limit), vdup(0.0f), y); }
SVENGINE_LOCKSTEP(vzero_below)
SVENGINE_LOCKSTEP(vsel_below)
/// a + b c, and b c + a: multiply-adds that leave the first operand alone where x is 0, for -0 + 0 is +0.
SVENGINE_INLINE vf vfma_unless_zero(vf x, vf a, vf b, vf c) { return svmla_m(vne(x, vdup(0.0f)), a, b, c); }
SVENGINE_LOCKSTEP(vfma_unless_zero)
SVENGINE_INLINE vf vmad_unless_zero(vf x, vf b, vf c, vf a) { return svmad_m(vne(x, vdup(0.0f)), b, c, a); }
SVENGINE_LOCKSTEP(vmad_unless_zero)
/// 1 / x to sve_reciprocal::kBits, and 2 - x y: the parts of Newton's steps.
SVENGINE_INLINE vf vestimate(vf x) { return sve_reciprocal::estimate(x); }
SVENGINE_LOCKSTEP(vestimate)
SVENGINE_INLINE vf vnewton(vf x, vf y) { return svrecps(x, y); }
SVENGINE_LOCKSTEP(vnewton)

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
