// Primitives of the host ACLE on AVX-512 (F, DQ, BW, VL): predicates are masks with one bit an element.
#pragma once
#include "sve_types.h"

struct svbool_t {
  __mmask64 m;  // bit i: element i; bits beyond the element count are zero
};

namespace sve_host {

template <int kElements>
inline constexpr __mmask64 kFullMask = kElements == 64 ? ~0ull : (1ull << (kElements & 63)) - 1;

// True when the compiler can see that every lane is active: the unpredicated instruction is taken at no cost.
template <Vector V>
SVE_FN bool known_full(svbool_t p) {
  return __builtin_constant_p(p.m) && (p.m & kFullMask<kCount<V>>) == kFullMask<kCount<V>>;
}

// ---- predicates ----
template <int kElements>
SVE_FN svbool_t predicate_full() {
  return {kFullMask<kElements>};
}
SVE_FN svbool_t predicate_none() { return {0}; }
template <int kElements>
SVE_FN svbool_t predicate_below(uint64_t count) {  // the first min(count, kElements)
  return {count >= uint64_t(kElements) ? kFullMask<kElements> : (1ull << count) - 1};
}
SVE_FN svbool_t predicate_and(svbool_t a, svbool_t b) { return {a.m & b.m}; }
SVE_FN svbool_t predicate_andnot(svbool_t a, svbool_t b) { return {a.m & ~b.m}; }  // a and not b
SVE_FN svbool_t predicate_or(svbool_t a, svbool_t b) { return {a.m | b.m}; }
SVE_FN svbool_t predicate_xor(svbool_t a, svbool_t b) { return {a.m ^ b.m}; }
template <int kElements>
SVE_FN uint64_t predicate_bits(svbool_t p) {  // one bit an element
  return p.m & kFullMask<kElements>;
}
template <int kElements>
SVE_FN svbool_t predicate_from_bits(uint64_t bits) {
  return {bits & kFullMask<kElements>};
}
SVE_FN bool predicate_any(svbool_t p) { return p.m != 0; }
SVE_FN bool predicate_first(svbool_t g, svbool_t p) { return (p.m & g.m & -g.m) != 0; }

template <Vector V>
SVE_FN V sel(svbool_t p, V a, V b) {
  if (known_full<V>(p)) return a;
  if constexpr (kSame<V, svfloat32_t>) return _mm512_mask_blend_ps(__mmask16(p.m), b, a);
  if constexpr (kSame<V, svfloat64_t>) return _mm512_mask_blend_pd(__mmask8(p.m), b, a);
  if constexpr (kWidth<V> == 4) return (V)_mm512_mask_blend_epi32(__mmask16(p.m), (__m512i)b, (__m512i)a);
  if constexpr (kWidth<V> == 8) return (V)_mm512_mask_blend_epi64(__mmask8(p.m), (__m512i)b, (__m512i)a);
  if constexpr (kWidth<V> == 2) return (V)_mm512_mask_blend_epi16(__mmask32(p.m), (__m512i)b, (__m512i)a);
  if constexpr (kWidth<V> == 1) return (V)_mm512_mask_blend_epi8(p.m, (__m512i)b, (__m512i)a);
}

template <Vector V>
SVE_FN V dup(Element<V> s) {
  if constexpr (kSame<V, svfloat32_t>) return _mm512_set1_ps(s);
  if constexpr (kSame<V, svfloat64_t>) return _mm512_set1_pd(s);
  if constexpr (kWidth<V> == 4) return (V)_mm512_set1_epi32(int(s));
  if constexpr (kWidth<V> == 8) return (V)_mm512_set1_epi64((long long)s);
  if constexpr (kWidth<V> == 2) return (V)_mm512_set1_epi16(short(s));
  if constexpr (kWidth<V> == 1) return (V)_mm512_set1_epi8(char(s));
}

template <Compare kOp, Vector V>
SVE_FN svbool_t compare(V a, V b) {
  if constexpr (FloatVector<V>) {
    constexpr int kCode[] = {_CMP_EQ_OQ, _CMP_NEQ_UQ, _CMP_LT_OQ, _CMP_LE_OQ, _CMP_GT_OQ, _CMP_GE_OQ, _CMP_UNORD_Q};
    constexpr int kImm = kCode[int(kOp)];
    if constexpr (kWidth<V> == 4)
      return {_mm512_cmp_ps_mask(a, b, kImm)};
    else
      return {_mm512_cmp_pd_mask(a, b, kImm)};
  } else {
    constexpr int kCode[] = {_MM_CMPINT_EQ, _MM_CMPINT_NE, _MM_CMPINT_LT, _MM_CMPINT_LE, _MM_CMPINT_GT, _MM_CMPINT_GE};
    constexpr int kImm = kCode[int(kOp)];
    const __m512i x = (__m512i)a, y = (__m512i)b;
    if constexpr (SignedVector<V>) {
      if constexpr (kWidth<V> == 4) return {_mm512_cmp_epi32_mask(x, y, kImm)};
      if constexpr (kWidth<V> == 8) return {_mm512_cmp_epi64_mask(x, y, kImm)};
      if constexpr (kWidth<V> == 2) return {_mm512_cmp_epi16_mask(x, y, kImm)};
      if constexpr (kWidth<V> == 1) return {_mm512_cmp_epi8_mask(x, y, kImm)};
    } else {
      if constexpr (kWidth<V> == 4) return {_mm512_cmp_epu32_mask(x, y, kImm)};
      if constexpr (kWidth<V> == 8) return {_mm512_cmp_epu64_mask(x, y, kImm)};
      if constexpr (kWidth<V> == 2) return {_mm512_cmp_epu16_mask(x, y, kImm)};
      if constexpr (kWidth<V> == 1) return {_mm512_cmp_epu8_mask(x, y, kImm)};
    }
  }
}

// ---- memory: inactive elements are neither read nor written, and read as zero ----
template <Vector V>
SVE_FN V load(svbool_t p, const void* q) {
  if (known_full<V>(p)) return (V)_mm512_loadu_si512(q);
  if constexpr (kSame<V, svfloat32_t>) return _mm512_maskz_loadu_ps(__mmask16(p.m), q);
  if constexpr (kSame<V, svfloat64_t>) return _mm512_maskz_loadu_pd(__mmask8(p.m), q);
  if constexpr (kWidth<V> == 4) return (V)_mm512_maskz_loadu_epi32(__mmask16(p.m), q);
  if constexpr (kWidth<V> == 8) return (V)_mm512_maskz_loadu_epi64(__mmask8(p.m), q);
  if constexpr (kWidth<V> == 2) return (V)_mm512_maskz_loadu_epi16(__mmask32(p.m), q);
  if constexpr (kWidth<V> == 1) return (V)_mm512_maskz_loadu_epi8(p.m, q);
}
template <Vector V>
SVE_FN void store(svbool_t p, void* q, V v) {
  if (known_full<V>(p)) return _mm512_storeu_si512(q, (__m512i)v);
  if constexpr (kSame<V, svfloat32_t>)
    _mm512_mask_storeu_ps(q, __mmask16(p.m), v);
  else if constexpr (kSame<V, svfloat64_t>)
    _mm512_mask_storeu_pd(q, __mmask8(p.m), v);
  else if constexpr (kWidth<V> == 4)
    _mm512_mask_storeu_epi32(q, __mmask16(p.m), (__m512i)v);
  else if constexpr (kWidth<V> == 8)
    _mm512_mask_storeu_epi64(q, __mmask8(p.m), (__m512i)v);
  else if constexpr (kWidth<V> == 2)
    _mm512_mask_storeu_epi16(q, __mmask32(p.m), (__m512i)v);
  else
    _mm512_mask_storeu_epi8(q, p.m, (__m512i)v);
}

// Both conversions name their instruction: GCC 12 may take __builtin_convertvector apart into single elements.
template <IntegerVector V, class T, class Narrow>
SVE_FN V extend(Narrow v) {
  constexpr bool kSigned = T(-1) < T(0);
  if constexpr (kWidth<V> == 4 && sizeof(T) == 1)
    return (V)(kSigned ? _mm512_cvtepi8_epi32((__m128i)v) : _mm512_cvtepu8_epi32((__m128i)v));
  else if constexpr (kWidth<V> == 4)
    return (V)(kSigned ? _mm512_cvtepi16_epi32((__m256i)v) : _mm512_cvtepu16_epi32((__m256i)v));
  else if constexpr (sizeof(T) == 2)
    return (V)(kSigned ? _mm512_cvtepi16_epi64((__m128i)v) : _mm512_cvtepu16_epi64((__m128i)v));
  else
    return (V)(kSigned ? _mm512_cvtepi32_epi64((__m256i)v) : _mm512_cvtepu32_epi64((__m256i)v));
}
template <class T, IntegerVector V>
SVE_FN void store_narrowed_whole(void* q, V v) {
  if constexpr (kWidth<V> == 4 && sizeof(T) == 1)
    _mm_storeu_si128((__m128i*)q, _mm512_cvtepi32_epi8((__m512i)v));
  else if constexpr (kWidth<V> == 4)
    _mm256_storeu_si256((__m256i*)q, _mm512_cvtepi32_epi16((__m512i)v));
  else if constexpr (sizeof(T) == 2)
    _mm_storeu_si128((__m128i*)q, _mm512_cvtepi64_epi16((__m512i)v));
  else
    _mm256_storeu_si256((__m256i*)q, _mm512_cvtepi64_epi32((__m512i)v));
}

// As many elements of T as V has, each extended to V's element (by T's sign).
template <IntegerVector V, class T>
SVE_FN V load_extended(svbool_t p, const T* q) {
  using Narrow = Packed<T, kCount<V>>;
  typename Narrow::Type v;
  if (known_full<V>(p)) {
    v = *(const typename Narrow::Unaligned*)q;
  } else if constexpr (sizeof(v) == 32 && sizeof(T) == 4) {
    v = (typename Narrow::Type)_mm256_maskz_loadu_epi32(__mmask8(p.m), q);
  } else if constexpr (sizeof(v) == 32) {
    v = (typename Narrow::Type)_mm256_maskz_loadu_epi16(__mmask16(p.m), q);
  } else if constexpr (sizeof(v) == 16 && sizeof(T) == 2) {
    v = (typename Narrow::Type)_mm_maskz_loadu_epi16(__mmask8(p.m), q);
  } else {
    static_assert(sizeof(v) == 16 && sizeof(T) == 1);
    v = (typename Narrow::Type)_mm_maskz_loadu_epi8(__mmask16(p.m), q);
  }
  return extend<V, T>(v);
}
// The low part of each element. Narrowed first and stored under the mask then: the instructions that do both are microcode.
template <IntegerVector V, class T>
SVE_FN void store_narrowed(svbool_t p, T* q, V v) {
  if (known_full<V>(p)) {
    store_narrowed_whole<T>(q, v);
  } else if constexpr (kWidth<V> == 4 && sizeof(T) == 1) {
    _mm_mask_storeu_epi8(q, __mmask16(p.m), _mm512_cvtepi32_epi8((__m512i)v));
  } else if constexpr (kWidth<V> == 4) {
    _mm256_mask_storeu_epi16(q, __mmask16(p.m), _mm512_cvtepi32_epi16((__m512i)v));
  } else if constexpr (sizeof(T) == 2) {
    _mm_mask_storeu_epi16(q, __mmask8(p.m), _mm512_cvtepi64_epi16((__m512i)v));
  } else {
    static_assert(kWidth<V> == 8 && sizeof(T) == 4);
    _mm256_mask_storeu_epi32(q, __mmask8(p.m), _mm512_cvtepi64_epi32((__m512i)v));
  }
}

// base + kScale * index[i] bytes; 32-bit indices count as signed or unsigned by their type, as SVE has it.
template <int kScale, Vector V, IntegerVector I>
SVE_FN V gather(svbool_t p, const void* base, I index) {
  const __m512i zero = _mm512_setzero_si512(), i = (__m512i)index;
  if constexpr (kWidth<I> == 8) {
    return (V)_mm512_mask_i64gather_epi64(zero, __mmask8(p.m), i, base, kScale);
  } else if constexpr (SignedVector<I>) {
    return (V)_mm512_mask_i32gather_epi32(zero, __mmask16(p.m), i, base, kScale);
  } else {
    const __m512i lo = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(i)),
                  hi = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(i, 1));
    const __m256i none = _mm256_setzero_si256();
    const __m256i l = _mm512_mask_i64gather_epi32(none, __mmask8(p.m), lo, base, kScale);
    const __m256i h = _mm512_mask_i64gather_epi32(none, __mmask8(p.m >> 8), hi, base, kScale);
    return (V)_mm512_inserti64x4(_mm512_castsi256_si512(l), h, 1);
  }
}
template <int kScale, Vector V, IntegerVector I>
SVE_FN void scatter(svbool_t p, void* base, I index, V v) {
  const __m512i i = (__m512i)index, x = (__m512i)v;
  if constexpr (kWidth<I> == 8) {
    _mm512_mask_i64scatter_epi64(base, __mmask8(p.m), i, x, kScale);
  } else if constexpr (SignedVector<I>) {
    _mm512_mask_i32scatter_epi32(base, __mmask16(p.m), i, x, kScale);
  } else {
    const __m512i lo = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(i)),
                  hi = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(i, 1));
    _mm512_mask_i64scatter_epi32(base, __mmask8(p.m), lo, _mm512_castsi512_si256(x), kScale);
    _mm512_mask_i64scatter_epi32(base, __mmask8(p.m >> 8), hi, _mm512_extracti64x4_epi64(x, 1), kScale);
  }
}

// ---- arithmetic that has no portable vector expression ----
SVE_FN svfloat32_t fma(svfloat32_t a, svfloat32_t b, svfloat32_t c) { return _mm512_fmadd_ps(a, b, c); }  // a b + c
SVE_FN svfloat64_t fma(svfloat64_t a, svfloat64_t b, svfloat64_t c) { return _mm512_fmadd_pd(a, b, c); }
SVE_FN svfloat32_t fnma(svfloat32_t a, svfloat32_t b, svfloat32_t c) { return _mm512_fnmadd_ps(a, b, c); }  // c - a b
SVE_FN svfloat64_t fnma(svfloat64_t a, svfloat64_t b, svfloat64_t c) { return _mm512_fnmadd_pd(a, b, c); }
SVE_FN svfloat32_t fms(svfloat32_t a, svfloat32_t b, svfloat32_t c) { return _mm512_fmsub_ps(a, b, c); }  // a b - c
SVE_FN svfloat64_t fms(svfloat64_t a, svfloat64_t b, svfloat64_t c) { return _mm512_fmsub_pd(a, b, c); }
SVE_FN svfloat32_t fnms(svfloat32_t a, svfloat32_t b, svfloat32_t c) { return _mm512_fnmsub_ps(a, b, c); }  // -a b - c
SVE_FN svfloat64_t fnms(svfloat64_t a, svfloat64_t b, svfloat64_t c) { return _mm512_fnmsub_pd(a, b, c); }
SVE_FN svfloat32_t square_root(svfloat32_t a) { return _mm512_sqrt_ps(a); }
SVE_FN svfloat64_t square_root(svfloat64_t a) { return _mm512_sqrt_pd(a); }
SVE_FN svfloat32_t add_down(svfloat32_t a, svfloat32_t b) {  // rounded down
  return _mm512_add_round_ps(a, b, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
SVE_FN svfloat64_t add_down(svfloat64_t a, svfloat64_t b) {
  return _mm512_add_round_pd(a, b, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
// x86's own maximum and minimum: the second operand when either is NaN or both are zero.
SVE_FN svfloat32_t raw_max(svfloat32_t a, svfloat32_t b) { return _mm512_max_ps(a, b); }
SVE_FN svfloat64_t raw_max(svfloat64_t a, svfloat64_t b) { return _mm512_max_pd(a, b); }
SVE_FN svfloat32_t raw_min(svfloat32_t a, svfloat32_t b) { return _mm512_min_ps(a, b); }
SVE_FN svfloat64_t raw_min(svfloat64_t a, svfloat64_t b) { return _mm512_min_pd(a, b); }
// IEEE 754-2008 maxNum and minNum, +0 above -0.
SVE_FN svfloat32_t max_number(svfloat32_t a, svfloat32_t b) { return _mm512_range_ps(a, b, 5); }
SVE_FN svfloat64_t max_number(svfloat64_t a, svfloat64_t b) { return _mm512_range_pd(a, b, 5); }
SVE_FN svfloat32_t min_number(svfloat32_t a, svfloat32_t b) { return _mm512_range_ps(a, b, 4); }
SVE_FN svfloat64_t min_number(svfloat64_t a, svfloat64_t b) { return _mm512_range_pd(a, b, 4); }

template <FloatVector V>
SVE_FN V max_number(V a, Element<V> s) {
  return max_number(a, dup<V>(s));
}
template <FloatVector V>
SVE_FN V min_number(V a, Element<V> s) {
  return min_number(a, dup<V>(s));
}
// The same, but NaN when either operand is NaN. Both orders differ in nothing but zeros' signs and NaN's bits: of the maximum
// the sign is that of both, the rest that of either.
template <FloatVector V>
SVE_FN V max_or_nan(V a, V b) {
  constexpr int kBothOfSignEitherOfRest = 0xd4;
  const __m512i sign = (__m512i)dup<V>(-0.0), ab = (__m512i)raw_max(a, b), ba = (__m512i)raw_max(b, a);
  return (V)_mm512_ternarylogic_epi64(ab, ba, sign, kBothOfSignEitherOfRest);
}
template <FloatVector V>
SVE_FN V min_or_nan(V a, V b) {
  return (V)((Signed<V>)raw_min(a, b) | (Signed<V>)raw_min(b, a));
}

// Variable shifts; counts of the element's width or more shift everything out (or the sign in).
template <IntegerVector V>
inline constexpr bool kShiftsNatively = kWidth<V> >= 2;
template <IntegerVector V>
requires kShiftsNatively<V> SVE_FN V shift_left(V a, Unsigned<V> n) {
  const __m512i x = (__m512i)a, y = (__m512i)n;
  if constexpr (kWidth<V> == 2) return (V)_mm512_sllv_epi16(x, y);
  if constexpr (kWidth<V> == 4) return (V)_mm512_sllv_epi32(x, y);
  if constexpr (kWidth<V> == 8) return (V)_mm512_sllv_epi64(x, y);
}
template <IntegerVector V>
requires kShiftsNatively<V> SVE_FN V shift_right(V a, Unsigned<V> n) {
  const __m512i x = (__m512i)a, y = (__m512i)n;
  if constexpr (SignedVector<V>) {
    if constexpr (kWidth<V> == 2) return (V)_mm512_srav_epi16(x, y);
    if constexpr (kWidth<V> == 4) return (V)_mm512_srav_epi32(x, y);
    if constexpr (kWidth<V> == 8) return (V)_mm512_srav_epi64(x, y);
  } else {
    if constexpr (kWidth<V> == 2) return (V)_mm512_srlv_epi16(x, y);
    if constexpr (kWidth<V> == 4) return (V)_mm512_srlv_epi32(x, y);
    if constexpr (kWidth<V> == 8) return (V)_mm512_srlv_epi64(x, y);
  }
}
// Sums of the products of neighbours.
SVE_FN svint32_t multiply_pairs(svint16_t a, svint16_t b) {
  return (svint32_t)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}

template <Round kMode, FloatVector V>
SVE_FN V round(V v) {
  constexpr int kCode[] = {_MM_FROUND_TO_NEAREST_INT, _MM_FROUND_TO_NEG_INF, _MM_FROUND_TO_POS_INF, _MM_FROUND_TO_ZERO,
                           _MM_FROUND_CUR_DIRECTION};
  if constexpr (kWidth<V> == 4)
    return _mm512_roundscale_ps(v, kCode[int(kMode)] | _MM_FROUND_NO_EXC);
  else
    return _mm512_roundscale_pd(v, kCode[int(kMode)] | _MM_FROUND_NO_EXC);
}
SVE_FN svfloat32_t scale(svfloat32_t v, svint32_t n) { return _mm512_scalef_ps(v, _mm512_cvtepi32_ps((__m512i)n)); }

// Truncation, x86's result (all ones or the sign bit alone) where the value does not fit.
SVE_FN svint32_t truncate(svfloat32_t v) { return (svint32_t)_mm512_cvttps_epi32(v); }
SVE_FN svint64_t truncate(svfloat64_t v) { return (svint64_t)_mm512_cvttpd_epi64(v); }
SVE_FN svuint32_t truncate_unsigned(svfloat32_t v) { return (svuint32_t)_mm512_cvttps_epu32(v); }

template <Vector V>
SVE_FN V compact(svbool_t p, V v) {  // active elements first, then zeros
  if constexpr (kWidth<V> == 4)
    return (V)_mm512_maskz_compress_epi32(__mmask16(p.m), (__m512i)v);
  else
    return (V)_mm512_maskz_compress_epi64(__mmask8(p.m), (__m512i)v);
}

typedef __m256i HalfInteger;
typedef __m256 HalfFloat;  // the float lanes of a 64-bit container vector, packed
SVE_FN svfloat64_t widen(HalfFloat v) { return _mm512_cvtps_pd(v); }
SVE_FN HalfFloat narrow(svfloat64_t v) { return _mm512_cvtpd_ps(v); }
SVE_FN svfloat32_t half_to_single(__m256i v) { return _mm512_cvtph_ps(v); }
SVE_FN __m256i single_to_half(svfloat32_t v) { return _mm512_cvtps_ph(v, _MM_FROUND_CUR_DIRECTION); }

// 1/x and 1/sqrt(x) to at least so many bits
static constexpr int kRoughBits = 14;
SVE_FN svfloat32_t rough_reciprocal(svfloat32_t v) { return _mm512_rcp14_ps(v); }
SVE_FN svfloat64_t rough_reciprocal(svfloat64_t v) { return _mm512_rcp14_pd(v); }
SVE_FN svfloat32_t rough_reciprocal_root(svfloat32_t v) { return _mm512_rsqrt14_ps(v); }

}  // namespace sve_host
