// Between vectors of 32 and of 64 bits a lane, on x86-64 (engine/kernels/native has it for SVE).
#pragma once
#include <arm_sve.h>

namespace sve_wide {

/// The first half of the floats as doubles, and the second.
SVE_FN svfloat64_t lower(svfloat32_t x) {
#if __ARM_FEATURE_SVE_BITS == 512
  return (svfloat64_t)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x));
#else
  return (svfloat64_t)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x));
#endif
}
SVE_FN svfloat64_t upper(svfloat32_t x) {
#if __ARM_FEATURE_SVE_BITS == 512
  return (svfloat64_t)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)x, 1));
#else
  return (svfloat64_t)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1));
#endif
}

/// Doubles, first and second half, as floats.
SVE_FN svfloat32_t joined(svfloat64_t lower, svfloat64_t upper) {
#if __ARM_FEATURE_SVE_BITS == 512
  return (svfloat32_t)_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)lower)), _mm512_cvtpd_ps((__m512d)upper), 1);
#else
  return (svfloat32_t)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)lower)), _mm256_cvtpd_ps((__m256d)upper), 1);
#endif
}

/// The whole product of the low 32 bits of every lane.
SVE_FN svuint64_t low_product(svuint64_t a, svuint64_t b) {
#if __ARM_FEATURE_SVE_BITS == 512
  return (svuint64_t)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#else
  return (svuint64_t)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#endif
}

}  // namespace sve_wide

