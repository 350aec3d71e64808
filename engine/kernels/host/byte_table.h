// A table of all 256 bytes in vector registers, on x86-64 (engine/kernels/native has it for SVE). With AVX-512 it is two pairs of vectors of
// 16-bit words, of which VPERMI2W takes one by seven bits of the byte; with AVX2 sixteen parts of sixteen bytes, under VPSHUFB, which gives 0
// where the index's highest bit is set.
#pragma once
#include <arm_sve.h>

namespace sve_bytes {

#if __ARM_FEATURE_SVE_BITS == 512

static constexpr int kTableParts = 4;

template <class Bytes>
SVE_FN void load_table(const uint8_t* from, Bytes (&table)[kTableParts]) {
  for (int i = 0; i < kTableParts; ++i) table[i] = (Bytes)_mm512_loadu_si512(from + 64 * i);
}

/// table[x >> 1] of every word x below 256; the highest bit of the byte is in `high`.
template <class Bytes>
SVE_FN __m512i word_pairs(const Bytes (&table)[kTableParts], __m512i half, __mmask32 high) {
  const __m512i low_words = _mm512_permutex2var_epi16((__m512i)table[0], half, (__m512i)table[1]);
  const __m512i high_words = _mm512_permutex2var_epi16((__m512i)table[2], half, (__m512i)table[3]);
  return _mm512_mask_blend_epi16(high, low_words, high_words);
}

/// table[x] of every byte.
template <class Bytes>
SVE_FN Bytes from_table(const Bytes (&table)[kTableParts], Bytes bytes) {
  const __m512i x = (__m512i)bytes, eight = _mm512_set1_epi16(8);
  const __m512i even = word_pairs(table, _mm512_srli_epi16(x, 1), _mm512_test_epi16_mask(x, _mm512_set1_epi16(0x80)));
  const __m512i odd = word_pairs(table, _mm512_srli_epi16(x, 9), _mm512_movepi16_mask(x));
  const __m512i low = _mm512_srlv_epi16(even, _mm512_and_si512(_mm512_slli_epi16(x, 3), eight));
  const __m512i high = _mm512_sllv_epi16(odd, _mm512_andnot_si512(_mm512_srli_epi16(x, 5), eight));
  return (Bytes)_mm512_ternarylogic_epi32(_mm512_set1_epi16(0xff), low, high, 0xca);  // low where the mask is set
}

#else

static constexpr int kTableParts = 16;

/// Of bytes below 128, and of those from 128 on, part i holds what its bytes differ in from those of part i - 1.
template <class Bytes>
SVE_FN void load_table(const uint8_t* from, Bytes (&table)[kTableParts]) {
  const auto part = [&](int i) __attribute__((always_inline)) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)(from + 16 * i)));
  };
  for (int i = 0; i < kTableParts; ++i) table[i] = (Bytes)(i % 8 == 0 ? part(i) : _mm256_xor_si256(part(i), part(i - 1)));
}

/// Byte x of part p has its result in parts 0 to p, behind which x - 16 p is negative and gives 0.
template <class Bytes>
SVE_FN Bytes from_table(const Bytes (&table)[kTableParts], Bytes bytes) {
  const __m256i part = _mm256_set1_epi8(16);
  __m256i low = (__m256i)bytes, high = _mm256_xor_si256(low, _mm256_set1_epi8(-128)), y = _mm256_setzero_si256();
#pragma GCC unroll 8
  for (int i = 0; i < kTableParts / 2; ++i) {
    const __m256i of_low = _mm256_shuffle_epi8((__m256i)table[i], low), of_high = _mm256_shuffle_epi8((__m256i)table[i + 8], high);
    y = _mm256_xor_si256(y, _mm256_xor_si256(of_low, of_high));
    low = _mm256_subs_epi8(low, part), high = _mm256_subs_epi8(high, part);
  }
  return (Bytes)y;
}

#endif

}  // namespace sve_bytes
