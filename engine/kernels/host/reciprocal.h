// Estimates of reciprocals and Newton's steps from them, on x86-64 (engine/kernels/native has them for SVE).
#pragma once
#include <arm_sve.h>

namespace sve_reciprocal {

static constexpr int kBits = sve_host::kRoughBits;  // of an estimate, that are right

/// About 1 / x; of doubles with AVX-512 alone.
template <class V>
SVE_FN V estimate(V x) { return sve_host::rough_reciprocal(x); }

/// 2 - x y of finite x and y: about 1 / x over y, with twice the bits that y has.
SVE_FN svfloat64_t step(svfloat64_t x, svfloat64_t y) { return sve_host::fnma(x, y, sve_host::dup<svfloat64_t>(2)); }

}  // namespace sve_reciprocal
