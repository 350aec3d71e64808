// Host ACLE on AVX2: exponents of the estimates by integer arithmetic.
#pragma once
#include "sve_float.h"

namespace sve_host {

SVE_FN svfloat32_t reciprocal_mantissa(svfloat32_t m);
SVE_FN svfloat32_t reciprocal_root_mantissa(svfloat32_t m);

// 2^up where v is subnormal (or zero), else 1: to lift v into the normal range, and its estimate back.
SVE_FN svfloat32_t lift(svfloat32_t v, float up) {
  return sel(compare<Compare::kLt>(magnitude(v), dup<svfloat32_t>(0x1p-126f)), dup<svfloat32_t>(up),
             dup<svfloat32_t>(1));
}

// y / 2 times 2^(1 - e); that factor's exponent field is 255 - field(v): infinite for zero, zero for infinity.
SVE_FN svfloat32_t reciprocal_estimate(svfloat32_t v) {
  const svfloat32_t up = lift(v, 4), lifted = v * up;
  const svuint32_t bits = (svuint32_t)lifted;
  const svfloat32_t m = (svfloat32_t)((bits & 0x807fffffu) | 0x3f800000u);
  const svfloat32_t factor = (svfloat32_t)(0x7f800000u - (bits & 0x7f800000u));
  const svfloat32_t r = reciprocal_mantissa(m) * dup<svfloat32_t>(0.5f) * factor * up;
  return sel(compare<Compare::kUnordered>(v, v), v, r);
}
// The lowest exponent bit joins the mantissa, so that it lies in [0.5, 2) and the rest of the exponent halves exactly.
SVE_FN svfloat32_t reciprocal_root_estimate(svfloat32_t v) {
  const svfloat32_t lifted = v * lift(v, 0x1p24f), zero{};
  const svuint32_t bits = (svuint32_t)lifted;
  const svfloat32_t m = (svfloat32_t)((bits & 0x00ffffffu) + 0x3f000000u);
  const svuint32_t field = (381 - (bits >> 23 & 0xff)) >> 1;
  const svfloat32_t r = reciprocal_root_mantissa(m) * (svfloat32_t)(field << 23) * lift(v, 0x1p12f);
  const svfloat32_t infinite = (svfloat32_t)(((svuint32_t)v & 0x80000000u) | 0x7f800000u);
  const svfloat32_t at_zero = sel(compare<Compare::kEq>(v, zero), infinite, r);
  const svfloat32_t at_infinity = sel(compare<Compare::kEq>(v, dup<svfloat32_t>(__builtin_inff())), zero, at_zero);
  return sel(compare<Compare::kGe>(v, zero), at_infinity, dup<svfloat32_t>(__builtin_nanf("")));
}

SVE_FN svuint32_t exp_mantissa(svuint32_t index, const uint32_t* table) {
  return (svuint32_t)_mm256_i32gather_epi32((const int*)table, (__m256i)(index & 63u), 4);
}

}  // namespace sve_host
