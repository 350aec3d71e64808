// What kernels multiply bytes by, on SVE (engine/kernels/host has it for x86-64): SDOT, the one that A64FX has.
#pragma once
#include <arm_sve.h>

namespace sve_bytes {

static constexpr bool kSignedA = true;
static inline __attribute__((always_inline)) svint32_t dot(svint32_t sum, svuint32_t a, svint8_t b) {
  return svdot(sum, svreinterpret_s8(a), b);
}

}  // namespace sve_bytes
