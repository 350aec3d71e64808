// What kernels multiply bytes by, on x86-64 (engine/kernels/native has it for SVE): svusdot, unsigned by signed bytes, four to a 32-bit
// sum, which wraps. With AVX-512 VNNI svusdot is one instruction; elsewhere even and odd bytes become two products of 16-bit pairs, which
// are exact (VPMADDUBSW would saturate).
//
// Four vectors of bytes and the four of 32-bit lanes that hold the same elements stand in "quad order" to each other, which is what takes
// fewest instructions: here each 128-bit part by itself, as x86-64 interleaves, so that lane i of part p of vector j is element
// 16 p + 4 j + i.
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
#ifdef __AVX512VNNI__
static constexpr bool kOneInstruction = true;
#else
static constexpr bool kOneInstruction = false;
#endif
SVE_FN svint32_t dot(svint32_t sum, svuint32_t a, svint8_t b) { return svusdot(sum, svreinterpret_u8(a), b); }

/// To the nearest integer, ties to even, of what fits 32 bits.
SVE_FN svint32_t rounded(svfloat32_t x) {
#if __ARM_FEATURE_SVE_BITS == 512
  return (svint32_t)_mm512_cvt_roundps_epi32((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  return (svint32_t)_mm256_cvtps_epi32((__m256)x);
#endif
}

/// The element that is lane `lane` of vector `vector` in quad order.
SVE_FN constexpr int quad_element(int, int vector, int lane) { return lane / 4 * 16 + vector * 4 + lane % 4; }

#if __ARM_FEATURE_SVE_BITS == 512
#define SVE_HOST_BYTES(name) _mm512_##name
typedef __m512i HostVector;
#else
#define SVE_HOST_BYTES(name) _mm256_##name
typedef __m256i HostVector;
#endif

/// Element c of a, b, c and d become the four bytes of one 32-bit lane, in quad order.
template <class Bytes, class Words>
SVE_FN void quads(Bytes a, Bytes b, Bytes c, Bytes d, Words (&out)[4]) {
  const HostVector low[2] = {SVE_HOST_BYTES(unpacklo_epi8)((HostVector)a, (HostVector)b),
                             SVE_HOST_BYTES(unpacklo_epi8)((HostVector)c, (HostVector)d)};
  const HostVector high[2] = {SVE_HOST_BYTES(unpackhi_epi8)((HostVector)a, (HostVector)b),
                              SVE_HOST_BYTES(unpackhi_epi8)((HostVector)c, (HostVector)d)};
  out[0] = (Words)SVE_HOST_BYTES(unpacklo_epi16)(low[0], low[1]), out[1] = (Words)SVE_HOST_BYTES(unpackhi_epi16)(low[0], low[1]);
  out[2] = (Words)SVE_HOST_BYTES(unpacklo_epi16)(high[0], high[1]), out[3] = (Words)SVE_HOST_BYTES(unpackhi_epi16)(high[0], high[1]);
}

/// Bytes of lanes in quad order that hold int8 (kSigned) or uint8.
template <bool kSigned, class Words>
SVE_FN svint8_t narrowed(const Words (&x)[4]) {
  const HostVector first = SVE_HOST_BYTES(packs_epi32)((HostVector)x[0], (HostVector)x[1]);
  const HostVector second = SVE_HOST_BYTES(packs_epi32)((HostVector)x[2], (HostVector)x[3]);
  if constexpr (kSigned)
    return (svint8_t)SVE_HOST_BYTES(packs_epi16)(first, second);
  else
    return (svint8_t)SVE_HOST_BYTES(packus_epi16)(first, second);
}

/// table[index & 15] for 16 lanes: all that VPERMPS takes of an index.
SVE_FN svfloat32_t looked_up(svfloat32_t table, svuint32_t index) { return sve_host::shuffle(table, (svint32_t)index); }

#undef SVE_HOST_BYTES

/// Four vectors that follow each other, in quad order: 128-bit parts change places.
template <class Words>
SVE_FN void quad_order(Words (&x)[4]) {
#if __ARM_FEATURE_SVE_BITS == 512
  const __m512i a = _mm512_shuffle_i32x4((__m512i)x[0], (__m512i)x[1], 0x44), b = _mm512_shuffle_i32x4((__m512i)x[2], (__m512i)x[3], 0x44);
  const __m512i c = _mm512_shuffle_i32x4((__m512i)x[0], (__m512i)x[1], 0xee), d = _mm512_shuffle_i32x4((__m512i)x[2], (__m512i)x[3], 0xee);
  x[0] = (Words)_mm512_shuffle_i32x4(a, b, 0x88), x[1] = (Words)_mm512_shuffle_i32x4(a, b, 0xdd);
  x[2] = (Words)_mm512_shuffle_i32x4(c, d, 0x88), x[3] = (Words)_mm512_shuffle_i32x4(c, d, 0xdd);
#else
  const __m256i a = (__m256i)x[0], b = (__m256i)x[1], c = (__m256i)x[2], d = (__m256i)x[3];
  x[0] = (Words)_mm256_permute2x128_si256(a, c, 0x20), x[1] = (Words)_mm256_permute2x128_si256(a, c, 0x31);
  x[2] = (Words)_mm256_permute2x128_si256(b, d, 0x20), x[3] = (Words)_mm256_permute2x128_si256(b, d, 0x31);
#endif
}

/// The other way round: four vectors in quad order, as they follow each other.
template <class Words>
SVE_FN void natural_order(Words (&x)[4]) {
#if __ARM_FEATURE_SVE_BITS == 512
  quad_order(x);
#else
  const __m256i a = (__m256i)x[0], b = (__m256i)x[1], c = (__m256i)x[2], d = (__m256i)x[3];
  x[0] = (Words)_mm256_permute2x128_si256(a, b, 0x20), x[1] = (Words)_mm256_permute2x128_si256(c, d, 0x20);
  x[2] = (Words)_mm256_permute2x128_si256(a, b, 0x31), x[3] = (Words)_mm256_permute2x128_si256(c, d, 0x31);
#endif
}

}  // namespace sve_bytes
