// Short names for the ACLE forms that vector mathematics needs: whole vectors, every lane active, NaN propagating.
//
// A lane that holds rubbish only ever makes rubbish of itself, so functions built from these take no predicate: kernels
// load their tails with a predicate (inactive lanes read as zero) and store them with one.
#pragma once
#include "engine/kernels/sve/vec.h"

// After a lambda's parameters: it must disappear into the loop, or vectors travel through memory.
#define SVENGINE_INLINE_LAMBDA __attribute__((always_inline))

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr float kFloatMin = 0x1p-126f;  // smallest normal
inline constexpr float kFloatMax = 0x1.fffffep127f;
inline constexpr float kInfinity = __builtin_inff();
inline constexpr float kQuietNaN = __builtin_nanf("");
inline constexpr int32_t kSignBit = INT32_MIN;

SVENGINE_INLINE vf vdup(float c) { return svdup_f32(c); }
SVENGINE_INLINE vi vdup_int(int32_t c) { return svdup_s32(c); }
SVENGINE_INLINE vf vadd(vf a, vf b) { return svadd_x(svptrue_b32(), a, b); }
SVENGINE_INLINE vf vsub(vf a, vf b) { return svsub_x(svptrue_b32(), a, b); }
SVENGINE_INLINE vf vmul(vf a, vf b) { return svmul_x(svptrue_b32(), a, b); }
SVENGINE_INLINE vf vfma(vf a, vf b, vf c) { return svmla_x(svptrue_b32(), c, a, b); }   // a b + c, one rounding
SVENGINE_INLINE vf vfnma(vf a, vf b, vf c) { return svmls_x(svptrue_b32(), c, a, b); }  // c - a b, one rounding
SVENGINE_INLINE vf vmax(vf a, vf b) { return svmax_x(svptrue_b32(), a, b); }            // NaN if either is
SVENGINE_INLINE vf vmin(vf a, vf b) { return svmin_x(svptrue_b32(), a, b); }            // NaN if either is
SVENGINE_INLINE vf vmax(vf a, float b) { return svmax_x(svptrue_b32(), a, b); }         // likewise, in fewer instructions on x86
SVENGINE_INLINE vf vmin(vf a, float b) { return svmin_x(svptrue_b32(), a, b); }
SVENGINE_INLINE vf vabs(vf a) { return svabs_x(svptrue_b32(), a); }
SVENGINE_INLINE vf vneg(vf a) { return svneg_x(svptrue_b32(), a); }
SVENGINE_INLINE vf vrint(vf a) { return svrintn_x(svptrue_b32(), a); }  // half to even

SVENGINE_INLINE vi vbits(vf a) { return svreinterpret_s32(a); }
SVENGINE_INLINE vf vfloat(vi a) { return svreinterpret_f32(a); }
SVENGINE_INLINE vi vadd_int(vi a, vi b) { return svadd_x(svptrue_b32(), a, b); }
SVENGINE_INLINE vi vsub_int(vi a, vi b) { return svsub_x(svptrue_b32(), a, b); }
SVENGINE_INLINE vi vand_int(vi a, vi b) { return svand_x(svptrue_b32(), a, b); }
SVENGINE_INLINE vi vor_int(vi a, vi b) { return svorr_x(svptrue_b32(), a, b); }
SVENGINE_INLINE vi vxor_int(vi a, vi b) { return sveor_x(svptrue_b32(), a, b); }
template <int kBits>
SVENGINE_INLINE vi vshl(vi a) {
  return svlsl_x(svptrue_b32(), a, svdup_u32(kBits));
}
SVENGINE_INLINE vf vto_float(vi a) { return svcvt_f32_x(svptrue_b32(), a); }

SVENGINE_INLINE vb vlt(vf a, vf b) { return svcmplt(svptrue_b32(), a, b); }
SVENGINE_INLINE vb vle(vf a, vf b) { return svcmple(svptrue_b32(), a, b); }
SVENGINE_INLINE vb vgt(vf a, vf b) { return svcmpgt(svptrue_b32(), a, b); }
SVENGINE_INLINE vb vge(vf a, vf b) { return svcmpge(svptrue_b32(), a, b); }
SVENGINE_INLINE vb veq(vf a, vf b) { return svcmpeq(svptrue_b32(), a, b); }
SVENGINE_INLINE vb vne(vf a, vf b) { return svcmpne(svptrue_b32(), a, b); }  // true for NaN
SVENGINE_INLINE vf vsel(vb c, vf a, vf b) { return svsel(c, a, b); }
SVENGINE_INLINE vi vsel(vb c, vi a, vi b) { return svsel(c, a, b); }

/// `magnitude`, which is not negative, with the sign of `sign`.
SVENGINE_INLINE vf vwith_sign(vf magnitude, vf sign) {
  return vfloat(vor_int(vbits(magnitude), vand_int(vbits(sign), vdup_int(kSignBit))));
}

/// x where it is a zero, y elsewhere: for odd functions, whose sums lose the sign of -0.
SVENGINE_INLINE vf vkeep_zero(vf x, vf y) { return vsel(vne(x, vdup(0.0f)), y, x); }

/// The polynomial c[0] + c[1] x + ... by Horner's rule. The coefficients are given highest power first, as in the text of
/// each function; the chain is serial, so callers interleave several vectors.
template <class V, class... C>
SVENGINE_INLINE V vpoly(V x, float highest, float next, C... rest) {
  V p = vfma(x, vdup(highest), vdup(next));
  ((p = vfma(p, x, vdup(rest))), ...);
  return p;
}

/// Where a loop keeps the coefficients of a polynomial. A function with more constants than there are registers names kMemory: they
/// are then broadcast from memory where they are used, by pipes that arithmetic leaves idle. Left alone, GCC takes all of them out of
/// the loop, to the stack, and vectors with them. Machines with a deep window need no help.
enum class Coefficients : uint8_t { kRegisters, kMemory };

/// The same polynomial, of coefficients in an array.
template <Coefficients kWhere, class V, int N>
SVENGINE_INLINE V vpoly_of(V x, const float (&c)[N]) {
  const float* at = c;
  if constexpr (kWhere == Coefficients::kMemory && !kMachine.deep_window) __asm__("" : "+r"(at));
  V p = vfma(x, vdup(at[0]), vdup(at[1]));
  SVENGINE_UNROLL
  for (int i = 2; i < N; ++i) p = vfma(p, x, vdup(at[i]));
  return p;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
