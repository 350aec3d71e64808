// Primitives of the host ACLE on AVX2 (with FMA and F16C): predicates are vectors, all ones in every active element.
#pragma once
#include "sve_types.h"

struct svbool_t {
  __m256i m;
};

namespace sve_host {

// True when the compiler can see that every lane is active: the unpredicated instruction is taken at no cost.
SVE_FN bool known_true(svbool_t p) {
  const long long all = p.m[0] & p.m[1] & p.m[2] & p.m[3];
  return __builtin_constant_p(all) && all == -1;
}
template <Vector V>
SVE_FN bool known_full(svbool_t p) {
  return known_true(p);
}

// ---- predicates ----
template <int kElements>
SVE_FN svbool_t predicate_full() {
  return {_mm256_set1_epi64x(-1)};
}
SVE_FN svbool_t predicate_none() { return {_mm256_setzero_si256()}; }
template <Vector V>
SVE_FN V dup(Element<V> s) {
  if constexpr (kSame<V, svfloat32_t>) return _mm256_set1_ps(s);
  if constexpr (kSame<V, svfloat64_t>) return _mm256_set1_pd(s);
  if constexpr (kWidth<V> == 4) return (V)_mm256_set1_epi32(int(s));
  if constexpr (kWidth<V> == 8) return (V)_mm256_set1_epi64x((long long)s);
  if constexpr (kWidth<V> == 2) return (V)_mm256_set1_epi16(short(s));
  if constexpr (kWidth<V> == 1) return (V)_mm256_set1_epi8(char(s));
}
template <int kElements>
SVE_FN svbool_t predicate_below(uint64_t count) {  // the first min(count, kElements)
  using I = typename SignedOf<kBytes / kElements>::Type;
  const I n = dup<I>(Element<I>(count < uint64_t(kElements) ? count : kElements));
  return {(__m256i)(n > iota<I>())};
}
SVE_FN svbool_t predicate_and(svbool_t a, svbool_t b) { return {a.m & b.m}; }
SVE_FN svbool_t predicate_andnot(svbool_t a, svbool_t b) { return {a.m & ~b.m}; }  // a and not b
SVE_FN svbool_t predicate_or(svbool_t a, svbool_t b) { return {a.m | b.m}; }
SVE_FN svbool_t predicate_xor(svbool_t a, svbool_t b) { return {a.m ^ b.m}; }
template <int kElements>
SVE_FN uint64_t predicate_bits(svbool_t p) {  // one bit an element
  if constexpr (kElements == 4) return uint64_t(_mm256_movemask_pd((__m256d)p.m));
  if constexpr (kElements == 8) return uint64_t(_mm256_movemask_ps((__m256)p.m));
  if constexpr (kElements == 16)
    return uint32_t(_mm_movemask_epi8(_mm_packs_epi16(_mm256_castsi256_si128(p.m), _mm256_extracti128_si256(p.m, 1))));
  if constexpr (kElements == 32) return uint32_t(_mm256_movemask_epi8(p.m));
}
template <int kElements>
SVE_FN svbool_t predicate_from_bits(uint64_t bits) {
  using I = typename SignedOf<kBytes / kElements>::Type;
  I v{};
  for (int i = 0; i < kElements; ++i) v[i] = Element<I>(-int64_t((bits >> i) & 1));
  return {(__m256i)v};
}
SVE_FN bool predicate_any(svbool_t p) { return !_mm256_testz_si256(p.m, p.m); }
SVE_FN bool predicate_first(svbool_t g, svbool_t p) {
  const uint32_t active = uint32_t(_mm256_movemask_epi8(g.m));
  return (uint32_t(_mm256_movemask_epi8(p.m)) & active & -active) != 0;
}

template <Vector V>
SVE_FN V sel(svbool_t p, V a, V b) {
  if (known_true(p)) return a;
  if constexpr (kSame<V, svfloat32_t>) return _mm256_blendv_ps(b, a, (__m256)p.m);
  if constexpr (kSame<V, svfloat64_t>) return _mm256_blendv_pd(b, a, (__m256d)p.m);
  if constexpr (IntegerVector<V>) return (V)_mm256_blendv_epi8((__m256i)b, (__m256i)a, p.m);
}

template <Compare kOp, Vector V>
SVE_FN svbool_t compare(V a, V b) {
  if constexpr (FloatVector<V>) {
    constexpr int kCode[] = {_CMP_EQ_OQ, _CMP_NEQ_UQ, _CMP_LT_OQ, _CMP_LE_OQ, _CMP_GT_OQ, _CMP_GE_OQ, _CMP_UNORD_Q};
    constexpr int kImm = kCode[int(kOp)];
    if constexpr (kWidth<V> == 4)
      return {(__m256i)_mm256_cmp_ps(a, b, kImm)};
    else
      return {(__m256i)_mm256_cmp_pd(a, b, kImm)};
  } else {
    if constexpr (kOp == Compare::kEq) return {(__m256i)(a == b)};
    if constexpr (kOp == Compare::kNe) return {(__m256i)(a != b)};
    if constexpr (kOp == Compare::kLt) return {(__m256i)(a < b)};
    if constexpr (kOp == Compare::kLe) return {(__m256i)(a <= b)};
    if constexpr (kOp == Compare::kGt) return {(__m256i)(a > b)};
    if constexpr (kOp == Compare::kGe) return {(__m256i)(a >= b)};
  }
}

// ---- memory: inactive elements are neither read nor written, and read as zero ----
// AVX2 masks accesses of 32 and 64 bits; narrower ones go element by element unless all are active.
template <Vector V>
SVE_FN V load(svbool_t p, const void* q) {
  if (known_true(p)) return (V)_mm256_loadu_si256((const __m256i*)q);
  if constexpr (kSame<V, svfloat32_t>) return _mm256_maskload_ps((const float*)q, p.m);
  if constexpr (kSame<V, svfloat64_t>) return _mm256_maskload_pd((const double*)q, p.m);
  if constexpr (kWidth<V> == 4) return (V)_mm256_maskload_epi32((const int*)q, p.m);
  if constexpr (kWidth<V> == 8) return (V)_mm256_maskload_epi64((const long long*)q, p.m);
  if constexpr (kWidth<V> <= 2) {
    if (predicate_bits<32>(p) == 0xffffffffu) return (V)_mm256_loadu_si256((const __m256i*)q);
    const uint64_t active = predicate_bits<kCount<V>>(p);
    V v{};
    for (int i = 0; i < kCount<V>; ++i)
      if (active >> i & 1) v[i] = ((const Element<V>*)q)[i];
    return v;
  }
}
// A masked store is microcode on AMD's processors (42 operations, 12 cycles on Zen 3): where all lanes turn out to be active it is not
// taken. Who stores many vectors under one predicate tests it once.
template <Vector V>
SVE_FN void store(svbool_t p, void* q, V v) {
  if (known_true(p) || predicate_bits<32>(p) == 0xffffffffu) return _mm256_storeu_si256((__m256i*)q, (__m256i)v);
  if constexpr (kSame<V, svfloat32_t>) {
    _mm256_maskstore_ps((float*)q, p.m, v);
  } else if constexpr (kSame<V, svfloat64_t>) {
    _mm256_maskstore_pd((double*)q, p.m, v);
  } else if constexpr (kWidth<V> == 4) {
    _mm256_maskstore_epi32((int*)q, p.m, (__m256i)v);
  } else if constexpr (kWidth<V> == 8) {
    _mm256_maskstore_epi64((long long*)q, p.m, (__m256i)v);
  } else {
    const uint64_t active = predicate_bits<kCount<V>>(p);
    for (int i = 0; i < kCount<V>; ++i)
      if (active >> i & 1) ((Element<V>*)q)[i] = v[i];
  }
}

// As many elements of T as V has, each extended to V's element (by T's sign).
template <IntegerVector V, class T>
SVE_FN V load_extended(svbool_t p, const T* q) {
  using Narrow = Packed<T, kCount<V>>;
  typename Narrow::Type v{};
  const uint64_t active = predicate_bits<kCount<V>>(p);
  if (known_true(p) || active == (1u << kCount<V>)-1) {
    v = *(const typename Narrow::Unaligned*)q;
  } else {
    for (int i = 0; i < kCount<V>; ++i)
      if (active >> i & 1) v[i] = q[i];
  }
  return __builtin_convertvector(v, V);
}
// The low part of each element.
template <IntegerVector V, class T>
SVE_FN void store_narrowed(svbool_t p, T* q, V v) {
  const typename Packed<T, kCount<V>>::Type narrow = __builtin_convertvector(v, typename Packed<T, kCount<V>>::Type);
  const uint64_t active = predicate_bits<kCount<V>>(p);
  if (known_true(p) || active == (1u << kCount<V>)-1) {
    *(typename Packed<T, kCount<V>>::Unaligned*)q = narrow;
  } else {
    for (int i = 0; i < kCount<V>; ++i)
      if (active >> i & 1) q[i] = narrow[i];
  }
}

// base + kScale * index[i] bytes; 32-bit indices count as signed or unsigned by their type, as SVE has it.
template <int kScale, Vector V, IntegerVector I>
SVE_FN V gather(svbool_t p, const void* base, I index) {
  const __m256i zero = _mm256_setzero_si256(), i = (__m256i)index;
  if constexpr (kWidth<I> == 8) {
    return (V)_mm256_mask_i64gather_epi64(zero, (const long long*)base, i, p.m, kScale);
  } else if constexpr (SignedVector<I>) {
    return (V)_mm256_mask_i32gather_epi32(zero, (const int*)base, i, p.m, kScale);
  } else {
    const __m256i lo = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(i)),
                  hi = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(i, 1));
    const __m128i none = _mm_setzero_si128(), first = _mm256_castsi256_si128(p.m),
                  last = _mm256_extracti128_si256(p.m, 1);
    const __m128i l = _mm256_mask_i64gather_epi32(none, (const int*)base, lo, first, kScale);
    const __m128i h = _mm256_mask_i64gather_epi32(none, (const int*)base, hi, last, kScale);
    return (V)_mm256_set_m128i(h, l);
  }
}
template <int kScale, Vector V, IntegerVector I>
SVE_FN void scatter(svbool_t p, void* base, I index, V v) {
  const uint64_t active = predicate_bits<kCount<V>>(p);
  for (int i = 0; i < kCount<V>; ++i)
    if (active >> i & 1) *(Element<V>*)((char*)base + int64_t(index[i]) * kScale) = v[i];
}

// ---- arithmetic that has no portable vector expression ----
SVE_FN svfloat32_t fma(svfloat32_t a, svfloat32_t b, svfloat32_t c) { return _mm256_fmadd_ps(a, b, c); }  // a b + c
SVE_FN svfloat64_t fma(svfloat64_t a, svfloat64_t b, svfloat64_t c) { return _mm256_fmadd_pd(a, b, c); }
SVE_FN svfloat32_t fnma(svfloat32_t a, svfloat32_t b, svfloat32_t c) { return _mm256_fnmadd_ps(a, b, c); }  // c - a b
SVE_FN svfloat64_t fnma(svfloat64_t a, svfloat64_t b, svfloat64_t c) { return _mm256_fnmadd_pd(a, b, c); }
SVE_FN svfloat32_t fms(svfloat32_t a, svfloat32_t b, svfloat32_t c) { return _mm256_fmsub_ps(a, b, c); }  // a b - c
SVE_FN svfloat64_t fms(svfloat64_t a, svfloat64_t b, svfloat64_t c) { return _mm256_fmsub_pd(a, b, c); }
SVE_FN svfloat32_t fnms(svfloat32_t a, svfloat32_t b, svfloat32_t c) { return _mm256_fnmsub_ps(a, b, c); }  // -a b - c
SVE_FN svfloat64_t fnms(svfloat64_t a, svfloat64_t b, svfloat64_t c) { return _mm256_fnmsub_pd(a, b, c); }
SVE_FN svfloat32_t square_root(svfloat32_t a) { return _mm256_sqrt_ps(a); }
SVE_FN svfloat64_t square_root(svfloat64_t a) { return _mm256_sqrt_pd(a); }
// x86's own maximum and minimum: the second operand when either is NaN or both are zero.
SVE_FN svfloat32_t raw_max(svfloat32_t a, svfloat32_t b) { return _mm256_max_ps(a, b); }
SVE_FN svfloat64_t raw_max(svfloat64_t a, svfloat64_t b) { return _mm256_max_pd(a, b); }
SVE_FN svfloat32_t raw_min(svfloat32_t a, svfloat32_t b) { return _mm256_min_ps(a, b); }
SVE_FN svfloat64_t raw_min(svfloat64_t a, svfloat64_t b) { return _mm256_min_pd(a, b); }
// NaN when either operand is NaN; +0 above -0. Both orders differ only in zeros' signs and in which operand follows a
// NaN.
template <FloatVector V>
SVE_FN V max_or_nan(V a, V b) {
  using I = Signed<V>;
  return (V)(((I)raw_max(a, b) & (I)raw_max(b, a)) | (I)compare<Compare::kUnordered>(a, b).m);
}
template <FloatVector V>
SVE_FN V min_or_nan(V a, V b) {
  return (V)((Signed<V>)raw_min(a, b) | (Signed<V>)raw_min(b, a));
}
// IEEE 754-2008 maxNum and minNum, but for signalling NaNs, which give way here as quiet ones do: a NaN gives way to
// the other operand, which the order that has the NaN first returns.
template <FloatVector V>
SVE_FN V max_number(V a, V b) {
  using I = Signed<V>;
  const V ab = raw_max(a, b), ba = raw_max(b, a);
  const V number = (V)((I)ab & ((I)ba | (I)compare<Compare::kUnordered>(a, a).m));
  return sel(compare<Compare::kUnordered>(b, b), ba, number);
}
template <FloatVector V>
SVE_FN V min_number(V a, V b) {
  using I = Signed<V>;
  const V ab = raw_min(a, b), ba = raw_min(b, a);
  const V number = (V)((I)ab | ((I)ba & ~(I)compare<Compare::kUnordered>(a, a).m));
  return sel(compare<Compare::kUnordered>(b, b), ba, number);
}

template <FloatVector V>
SVE_FN V max_number(V a, Element<V> s) {
  const V b = dup<V>(s);
  return known_number(s) && !known_negative_zero(s) ? raw_max(a, b) : max_number(a, b);
}
template <FloatVector V>
SVE_FN V min_number(V a, Element<V> s) {
  const V b = dup<V>(s);
  return known_number(s) && !known_positive_zero(s) ? raw_min(a, b) : min_number(a, b);
}

// Variable shifts; counts of the element's width or more shift everything out (or the sign in).
template <IntegerVector V>
inline constexpr bool kShiftsNatively = kWidth<V> >= 4 && !kSame<V, svint64_t>;
template <IntegerVector V>
requires kShiftsNatively<V> SVE_FN V shift_left(V a, Unsigned<V> n) {
  if constexpr (kWidth<V> == 4)
    return (V)_mm256_sllv_epi32((__m256i)a, (__m256i)n);
  else
    return (V)_mm256_sllv_epi64((__m256i)a, (__m256i)n);
}
template <IntegerVector V>
requires kShiftsNatively<V> SVE_FN V shift_right(V a, Unsigned<V> n) {
  if constexpr (SignedVector<V>)
    return (V)_mm256_srav_epi32((__m256i)a, (__m256i)n);
  else if constexpr (kWidth<V> == 4)
    return (V)_mm256_srlv_epi32((__m256i)a, (__m256i)n);
  else
    return (V)_mm256_srlv_epi64((__m256i)a, (__m256i)n);
}
// Sums of the products of neighbours.
SVE_FN svint32_t multiply_pairs(svint16_t a, svint16_t b) {
  return (svint32_t)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

template <Round kMode, FloatVector V>
SVE_FN V round(V v) {
  constexpr int kCode[] = {_MM_FROUND_TO_NEAREST_INT, _MM_FROUND_TO_NEG_INF, _MM_FROUND_TO_POS_INF, _MM_FROUND_TO_ZERO,
                           _MM_FROUND_CUR_DIRECTION};
  if constexpr (kWidth<V> == 4)
    return _mm256_round_ps(v, kCode[int(kMode)] | _MM_FROUND_NO_EXC);
  else
    return _mm256_round_pd(v, kCode[int(kMode)] | _MM_FROUND_NO_EXC);
}

template <Vector V>
SVE_FN V compact(svbool_t p, V v) {  // active elements first, then zeros
  const uint64_t active = predicate_bits<kCount<V>>(p);
  V r{};
  int used = 0;
  for (int i = 0; i < kCount<V>; ++i)
    if (active >> i & 1) r[used++] = v[i];
  return r;
}

typedef __m128i HalfInteger;
typedef __m128 HalfFloat;  // the float lanes of a 64-bit container vector, packed
SVE_FN svfloat64_t widen(HalfFloat v) { return _mm256_cvtps_pd(v); }
SVE_FN HalfFloat narrow(svfloat64_t v) { return _mm256_cvtpd_ps(v); }
SVE_FN svfloat32_t half_to_single(__m128i v) { return _mm256_cvtph_ps(v); }
SVE_FN __m128i single_to_half(svfloat32_t v) { return _mm256_cvtps_ph(v, _MM_FROUND_CUR_DIRECTION); }

// v 2^n with one rounding: exact in double, whose exponents reach far enough once n is clamped to +-300.
SVE_FN svfloat32_t scale(svfloat32_t v, svint32_t n) {
  const __m256i clamped =
      _mm256_max_epi32(_mm256_min_epi32((__m256i)n, _mm256_set1_epi32(300)), _mm256_set1_epi32(-300));
  const __m256i biased = _mm256_add_epi32(clamped, _mm256_set1_epi32(1023));
  const __m256d lo = (__m256d)_mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(biased)), 52);
  const __m256d hi = (__m256d)_mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm256_extracti128_si256(biased, 1)), 52);
  const HalfFloat l = narrow(widen(_mm256_castps256_ps128(v)) * lo),
                  h = narrow(widen(_mm256_extractf128_ps(v, 1)) * hi);
  return _mm256_set_m128(h, l);
}

// Truncation, x86's result (the sign bit alone) where the value does not fit.
SVE_FN svint32_t truncate(svfloat32_t v) { return (svint32_t)_mm256_cvttps_epi32(v); }
SVE_FN svint64_t truncate(svfloat64_t v) {
  svint64_t r{};
  for (int i = 0; i < 4; ++i) r[i] = _mm_cvttsd_si64(_mm_set_sd(v[i]));
  return r;
}
SVE_FN svuint32_t truncate_unsigned(svfloat32_t v) {  // 0 <= v or NaN; all ones where v >= 2^32
  const svfloat32_t half = dup<svfloat32_t>(0x1p31f);
  const svbool_t big = compare<Compare::kGe>(v, half);
  const __m256i small = _mm256_cvttps_epi32(v), rest = _mm256_cvttps_epi32(v - half);
  const __m256i over = compare<Compare::kGe>(v, dup<svfloat32_t>(0x1p32f)).m;
  return (svuint32_t)(_mm256_blendv_epi8(small, rest ^ _mm256_set1_epi32(int(0x80000000u)), big.m) | over);
}

// 1/x and 1/sqrt(x) to at least so many bits
static constexpr int kRoughBits = 11;
SVE_FN svfloat32_t rough_reciprocal(svfloat32_t v) { return _mm256_rcp_ps(v); }
SVE_FN svfloat32_t rough_reciprocal_root(svfloat32_t v) { return _mm256_rsqrt_ps(v); }

}  // namespace sve_host
