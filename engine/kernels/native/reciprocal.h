// Estimates of reciprocals and Newton's steps from them, on SVE (engine/kernels/host has them for x86-64).
#pragma once
#include <arm_sve.h>

namespace sve_reciprocal {

static constexpr int kBits = 8;  // of an estimate, that are right

/// About 1 / x.
static inline __attribute__((always_inline)) svfloat32_t estimate(svfloat32_t x) { return svrecpe(x); }
static inline __attribute__((always_inline)) svfloat64_t estimate(svfloat64_t x) { return svrecpe(x); }

/// 2 - x y of finite x and y: about 1 / x over y, with twice the bits that y has.
static inline __attribute__((always_inline)) svfloat64_t step(svfloat64_t x, svfloat64_t y) { return svrecps(x, y); }

}  // namespace sve_reciprocal
