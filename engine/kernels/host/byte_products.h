// What kernels multiply bytes by, on x86-64 (engine/kernels/native has it for SVE): svusdot, unsigned by signed bytes, four to a 32-bit
// sum, which wraps. With AVX-512 VNNI svusdot is one instruction; elsewhere even and odd bytes become two products of 16-bit pairs, which
// are exact (VPMADDUBSW would saturate).
#pragma once
#include <arm_sve.h>

namespace sve_host {

SVE_FN svint32_t pair_products(svint16_t a, svint16_t b) {
#if __ARM_FEATURE_SVE_BITS == 512
  return (svint32_t)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#else
  return (svint32_t)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#endif
}
SVE_FN svint16_t even_bytes(svint8_t v) { return (svint16_t)((svuint16_t)v << 8) >> 8; }
SVE_FN svint16_t odd_bytes(svint8_t v) { return (svint16_t)v >> 8; }
SVE_FN svint16_t even_bytes(svuint8_t v) { return (svint16_t)((svuint16_t)v & 0xff); }
SVE_FN svint16_t odd_bytes(svuint8_t v) { return (svint16_t)((svuint16_t)v >> 8); }

SVE_FN svint32_t mixed_products(svint32_t sum, svuint8_t a, svint8_t b) {
  const svuint32_t even = (svuint32_t)pair_products(even_bytes(a), even_bytes(b));
  const svuint32_t odd = (svuint32_t)pair_products(odd_bytes(a), odd_bytes(b));
  return (svint32_t)((svuint32_t)sum + even + odd);
}

}  // namespace sve_host

SVE_FN svint32_t svusdot(svint32_t sum, svuint8_t a, svint8_t b) {
#ifdef __AVX512VNNI__
  return (svint32_t)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
#else
  return sve_host::mixed_products(sum, a, b);
#endif
}

namespace sve_bytes {

static constexpr bool kSignedA = false;  // VNNI multiplies unsigned bytes by signed ones
SVE_FN svint32_t dot(svint32_t sum, svuint32_t a, svint8_t b) { return svusdot(sum, svreinterpret_u8(a), b); }

}  // namespace sve_bytes
