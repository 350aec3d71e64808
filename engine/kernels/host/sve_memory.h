// Host ACLE: contiguous, extending, narrowing, gathered and scattered memory accesses.
#pragma once
#include "sve_types.h"

template <sve_host::Scalar T>
SVE_FN sve_host::VectorFor<T> svld1(svbool_t p, const T* q) {
  return sve_host::load<sve_host::VectorFor<T>>(p, q);
}
template <sve_host::Scalar T>
SVE_FN void svst1(svbool_t p, T* q, sve_host::VectorFor<T> v) {
  sve_host::store(p, q, v);
}
// On x86 the hint "not used again soon" would need aligned, complete vectors: an ordinary store.
template <sve_host::Scalar T>
SVE_FN void svstnt1(svbool_t p, T* q, sve_host::VectorFor<T> v) {
  sve_host::store(p, q, v);
}
template <sve_host::Scalar T>
SVE_FN sve_host::VectorFor<T> svldnt1(svbool_t p, const T* q) {
  return sve_host::load<sve_host::VectorFor<T>>(p, q);
}

#define SVE_LOAD_EXTENDED(name, memory, suffix, vector) \
  SVE_FN vector name##_##suffix(svbool_t p, const memory* q) { return sve_host::load_extended<vector>(p, q); }
SVE_LOAD_EXTENDED(svld1ub, uint8_t, s32, svint32_t)
SVE_LOAD_EXTENDED(svld1ub, uint8_t, u32, svuint32_t)
SVE_LOAD_EXTENDED(svld1sb, int8_t, s32, svint32_t)
SVE_LOAD_EXTENDED(svld1sb, int8_t, u32, svuint32_t)
SVE_LOAD_EXTENDED(svld1uh, uint16_t, s32, svint32_t)
SVE_LOAD_EXTENDED(svld1uh, uint16_t, u32, svuint32_t)
SVE_LOAD_EXTENDED(svld1sh, int16_t, s32, svint32_t)
SVE_LOAD_EXTENDED(svld1sh, int16_t, u32, svuint32_t)
SVE_LOAD_EXTENDED(svld1uw, uint32_t, s64, svint64_t)
SVE_LOAD_EXTENDED(svld1uw, uint32_t, u64, svuint64_t)
SVE_LOAD_EXTENDED(svld1sw, int32_t, s64, svint64_t)
SVE_LOAD_EXTENDED(svld1sw, int32_t, u64, svuint64_t)
#undef SVE_LOAD_EXTENDED

#define SVE_STORE_NARROWED(name, memory, vector) \
  SVE_FN void name(svbool_t p, memory* q, vector v) { sve_host::store_narrowed(p, q, v); }
SVE_STORE_NARROWED(svst1b, int8_t, svint32_t)
SVE_STORE_NARROWED(svst1b, uint8_t, svuint32_t)
SVE_STORE_NARROWED(svst1h, int16_t, svint32_t)
SVE_STORE_NARROWED(svst1h, uint16_t, svuint32_t)
SVE_STORE_NARROWED(svst1w, int32_t, svint64_t)
SVE_STORE_NARROWED(svst1w, uint32_t, svuint64_t)
#undef SVE_STORE_NARROWED

// Indices count elements, offsets bytes; both are as wide as the element.
template <sve_host::Scalar T, sve_host::IntegerVector I>
requires(sizeof(T) == sve_host::kWidth<I> &&
         sizeof(T) >= 4) SVE_FN sve_host::VectorFor<T> svld1_gather_index(svbool_t p, const T* base, I index) {
  return sve_host::gather<sizeof(T), sve_host::VectorFor<T>>(p, base, index);
}
template <sve_host::Scalar T, sve_host::IntegerVector I>
requires(sizeof(T) == sve_host::kWidth<I> &&
         sizeof(T) >= 4) SVE_FN sve_host::VectorFor<T> svld1_gather_offset(svbool_t p, const T* base, I offset) {
  return sve_host::gather<1, sve_host::VectorFor<T>>(p, base, offset);
}
// Lanes are written in order: where addresses coincide the highest active lane wins.
template <sve_host::Scalar T, sve_host::IntegerVector I>
requires(sizeof(T) == sve_host::kWidth<I> && sizeof(T) >= 4) SVE_FN
    void svst1_scatter_index(svbool_t p, T* base, I index, sve_host::VectorFor<T> v) {
  sve_host::scatter<sizeof(T)>(p, base, index, v);
}
template <sve_host::Scalar T, sve_host::IntegerVector I>
requires(sizeof(T) == sve_host::kWidth<I> && sizeof(T) >= 4) SVE_FN
    void svst1_scatter_offset(svbool_t p, T* base, I offset, sve_host::VectorFor<T> v) {
  sve_host::scatter<1>(p, base, offset, v);
}

// Prefetches touch the first line only of what SVE would fetch (a vector is one line of 64 bytes).
#define SVE_PREFETCH(name)                                \
  SVE_FN void name(svbool_t, const void* q, svprfop op) { \
    if (op == SV_PLDL1KEEP || op == SV_PSTL1KEEP)         \
      _mm_prefetch((const char*)q, _MM_HINT_T0);          \
    else if (op == SV_PLDL2KEEP || op == SV_PSTL2KEEP)    \
      _mm_prefetch((const char*)q, _MM_HINT_T1);          \
    else if (op == SV_PLDL3KEEP || op == SV_PSTL3KEEP)    \
      _mm_prefetch((const char*)q, _MM_HINT_T2);          \
    else                                                  \
      _mm_prefetch((const char*)q, _MM_HINT_NTA);         \
  }
SVE_PREFETCH(svprfb)
SVE_PREFETCH(svprfh)
SVE_PREFETCH(svprfw)
SVE_PREFETCH(svprfd)
#undef SVE_PREFETCH
