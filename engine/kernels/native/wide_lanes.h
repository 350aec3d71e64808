// Between vectors of 32 and of 64 bits a lane, on SVE (engine/kernels/host has it for x86-64).
#pragma once
#include <arm_sve.h>

namespace sve_wide {

/// The first half of the floats as doubles, and the second.
static inline __attribute__((always_inline)) svfloat64_t lower(svfloat32_t x) {
  return svcvt_f64_x(svptrue_b64(), svreinterpret_f32(svunpklo(svreinterpret_u32(x))));
}
static inline __attribute__((always_inline)) svfloat64_t upper(svfloat32_t x) {
  return svcvt_f64_x(svptrue_b64(), svreinterpret_f32(svunpkhi(svreinterpret_u32(x))));
}

/// Doubles, first and second half, as floats.
static inline __attribute__((always_inline)) svfloat32_t joined(svfloat64_t lower, svfloat64_t upper) {
  return svuzp1(svcvt_f32_x(svptrue_b64(), lower), svcvt_f32_x(svptrue_b64(), upper));
}

/// The whole product of the low 32 bits of every lane.
static inline __attribute__((always_inline)) svuint64_t low_product(svuint64_t a, svuint64_t b) {
  return svmul_x(svptrue_b64(), svand_x(svptrue_b64(), a, 0xffffffff), svand_x(svptrue_b64(), b, 0xffffffff));
}

}  // namespace sve_wide
