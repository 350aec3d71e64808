// Host ACLE on AVX-512: the parts of the estimates that exponent and permutation instructions do best.
#pragma once
#include "sve_float.h"

namespace sve_host {

SVE_FN svfloat32_t reciprocal_mantissa(svfloat32_t m);
SVE_FN svfloat32_t reciprocal_root_mantissa(svfloat32_t m);

// Zero, infinity, NaN and subnormals need no care: VGETEXP and VSCALEF are inverse to each other on them too.
SVE_FN svfloat32_t reciprocal_estimate(svfloat32_t v) {
  const svfloat32_t m = _mm512_getmant_ps(v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
  return _mm512_scalef_ps(reciprocal_mantissa(m), -_mm512_getexp_ps(v));
}
// x = m 2^e with e even and m in [0.5, 2): VSCALEF rounds -e / 2 down by itself. Below zero there is no root; -0 gives
// -infinity.
SVE_FN svfloat32_t reciprocal_root_estimate(svfloat32_t v) {
  const svfloat32_t m = _mm512_getmant_ps(v, _MM_MANT_NORM_p5_2, _MM_MANT_SIGN_zero);
  const svfloat32_t y = _mm512_scalef_ps(reciprocal_root_mantissa(m), _mm512_getexp_ps(v) * dup<svfloat32_t>(-0.5f));
  const svfloat32_t r = (svfloat32_t)((svuint32_t)y | ((svuint32_t)v & 0x80000000u));
  return sel(compare<Compare::kLt>(v, svfloat32_t{}), dup<svfloat32_t>(__builtin_nanf("")), r);
}

SVE_FN svuint32_t exp_mantissa(svuint32_t index, const uint32_t* table) {
  const __m512i *t = (const __m512i*)table, i = (__m512i)index;
  const __m512i lo = _mm512_permutex2var_epi32(t[0], i, t[1]), hi = _mm512_permutex2var_epi32(t[2], i, t[3]);
  return (svuint32_t)_mm512_mask_blend_epi32(_mm512_test_epi32_mask(i, _mm512_set1_epi32(32)), lo, hi);
}

}  // namespace sve_host
