// Stores by element type, and the loop over contiguous elements.
//
// Functions are template arguments (a vector in, a vector or a predicate out) and are inlined whole; every loop does four
// vectors at a time, because the latency of A64FX's pipes is nine cycles and a chain alone would wait for each step.
#pragma once
#include "engine/kernels/elementwise.h"
#include "engine/kernels/sve/element.h"
#include "engine/kernels/sve/math/many.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {

inline constexpr int kUnroll = 4;

SVENGINE_INLINE void store(vb p, float* y, vf v) { svst1(p, y, v); }
SVENGINE_INLINE void store(vb p, int32_t* y, vi v) { svst1(p, y, v); }
SVENGINE_INLINE void store(vb p, int64_t* y, vl v) { svst1(p, y, v); }
SVENGINE_INLINE void store(vb p, uint8_t* y, vbyte v) { svst1(p, y, v); }
/// A predicate of 32-bit lanes as bool bytes.
SVENGINE_INLINE void store(vb p, uint8_t* y, vb truth) { svst1b(p, y, svdup_u32_z(truth, 1)); }

/// y[i] = f(x[i]) for i < n. Out is T, or uint8_t where f gives a predicate.
template <class T, class Out, class F>
SVENGINE_INLINE void map_contiguous(const T* x, Out* y, int64_t n, F f) {
  using V = Vec<T>;
  int64_t i = 0;
  for (; i + kUnroll * kLanesOf<T> <= n; i += kUnroll * kLanesOf<T>) {
    V v[kUnroll];
    SVENGINE_UNROLL
    for (int u = 0; u < kUnroll; ++u) v[u] = svld1(every<T>(), x + i + u * kLanesOf<T>);
    SVENGINE_UNROLL
    for (int u = 0; u < kUnroll; ++u) store(every<T>(), y + i + u * kLanesOf<T>, f(v[u]));
  }
  for (; i < n; i += kLanesOf<T>) {
    const vb p = lanes_below<T>(i, n);
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
