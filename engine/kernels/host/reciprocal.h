// Estimates of reciprocals and Newton's steps from them, on x86-64 (engine/kernels/native has them for SVE). AVX2 estimates no doubles.
#pragma once
#include <arm_sve.h>

namespace sve_reciprocal {

#if __ARM_FEATURE_SVE_BITS == 512
static constexpr int kBits = 14;  // of an estimate, that are right
#else
static constexpr int kBits = 11;
#endif

/// About 1 / x.
SVE_FN svfloat32_t estimate(svfloat32_t x) { return sve_host::rough_reciprocal(x); }
#if __ARM_FEATURE_SVE_BITS == 512
SVE_FN svfloat64_t estimate(svfloat64_t x) { return (svfloat64_t)_mm512_rcp14_pd((__m512d)x); }
#endif

/// 2 - x y of finite x and y: about 1 / x over y, with twice the bits that y has.
SVE_FN svfloat64_t step(svfloat64_t x, svfloat64_t y) { return sve_host::fnma(x, y, sve_host::dup<svfloat64_t>(2)); }

}  // namespace sve_reciprocal
