// Vectors by element type, and the loop over contiguous elements.
//
// Functions are template arguments (a vector in, a vector or a predicate out) and are inlined whole; every loop does four
// vectors at a time, because the latency of A64FX's pipes is nine cycles and a chain alone would wait for each step.
#pragma once
#include "engine/kernels/elementwise.h"
#include "engine/kernels/sve/math/many.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {

typedef svuint8_t vbyte __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));

inline constexpr int kUnroll = 4;

template <class T>
struct Simd;
template <>
struct Simd<float> {
  using Vector = vf;
  static constexpr int kCount = kLanes;
  static vb all() { return svptrue_b32(); }
  static vb below(int64_t i, int64_t n) { return svwhilelt_b32(i, n); }
  static vf dup(float x) { return svdup_f32(x); }
};
template <>
struct Simd<int32_t> {
  using Vector = vi;
  static constexpr int kCount = kLanes;
  static vb all() { return svptrue_b32(); }
  static vb below(int64_t i, int64_t n) { return svwhilelt_b32(i, n); }
  static vi dup(int32_t x) { return svdup_s32(x); }
};
template <>
struct Simd<int64_t> {
  using Vector = vl;
  static constexpr int kCount = kLanes / 2;
  static vb all() { return svptrue_b64(); }
  static vb below(int64_t i, int64_t n) { return svwhilelt_b64(i, n); }
  static vl dup(int64_t x) { return svdup_s64(x); }
};
template <>
struct Simd<uint8_t> {
  using Vector = vbyte;
  static constexpr int kCount = kLanes * 4;
  static vb all() { return svptrue_b8(); }
  static vb below(int64_t i, int64_t n) { return svwhilelt_b8(i, n); }
  static vbyte dup(uint8_t x) { return svdup_u8(x); }
};

SVENGINE_INLINE void store(vb p, float* y, vf v) { svst1(p, y, v); }
SVENGINE_INLINE void store(vb p, int32_t* y, vi v) { svst1(p, y, v); }
SVENGINE_INLINE void store(vb p, int64_t* y, vl v) { svst1(p, y, v); }
SVENGINE_INLINE void store(vb p, uint8_t* y, vbyte v) { svst1(p, y, v); }
/// A predicate of 32-bit lanes as bool bytes.
SVENGINE_INLINE void store(vb p, uint8_t* y, vb truth) { svst1b(p, y, svdup_u32_z(truth, 1)); }

/// y[i] = f(x[i]) for i < n. Out is T, or uint8_t where f gives a predicate.
template <class T, class Out, class F>
SVENGINE_INLINE void map_contiguous(const T* x, Out* y, int64_t n, F f) {
  using S = Simd<T>;
  using V = typename S::Vector;
  int64_t i = 0;
  for (; i + kUnroll * S::kCount <= n; i += kUnroll * S::kCount) {
    V v[kUnroll];
    SVENGINE_UNROLL
    for (int u = 0; u < kUnroll; ++u) v[u] = svld1(S::all(), x + i + u * S::kCount);
    SVENGINE_UNROLL
    for (int u = 0; u < kUnroll; ++u) store(S::all(), y + i + u * S::kCount, f(v[u]));
  }
  for (; i < n; i += S::kCount) {
    const vb p = S::below(i, n);
    const V v = svld1(p, x + i);
    store(p, y + i, f(v));
  }
}

/// y = f(x) for kMany vectors in lockstep.
template <int kMany, class F>
SVENGINE_INLINE void map_block(const float* x, float* y, const F& f) {
  const vb all = svptrue_b32();
  Many<kMany> v;
  SVENGINE_UNROLL
  for (int u = 0; u < kMany; ++u) v.at[u] = svld1(all, x + u * kLanes);
  v = f(v);
  SVENGINE_UNROLL
  for (int u = 0; u < kMany; ++u) svst1(all, y + u * kLanes, v.at[u]);
}

/// For long chains of arithmetic: kMany vectors in lockstep (math/many.h), the rest one by one.
template <int kMany, class F>
SVENGINE_INLINE void map_in_lockstep(const float* x, float* y, int64_t n, const F& f) {
  int64_t i = 0;
  for (; i + kMany * kLanes <= n; i += kMany * kLanes) map_block<kMany>(x + i, y + i, f);
  for (; i < n; i += kLanes) {
    const vb p = svwhilelt_b32(i, n);
    svst1(p, y + i, f(Many<1>{svld1(p, x + i)}).at[0]);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
