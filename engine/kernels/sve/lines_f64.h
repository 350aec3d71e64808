// Loops over contiguous doubles: kMany vectors a step, the last step with what lanes there are, and blocked sums.
//
//     x [v0 v1 v2 v3][v0 v1 v2 v3] ...      kMany accumulators; after kBlock steps all of them are added to the total
//
// so the error of a long line's sum grows with the number of its blocks only.
#pragma once
#include "engine/kernels/sve/math/many.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int kDoubles = kLanes / 2;
inline constexpr int kMany = 4;  // vectors in lockstep
inline constexpr int64_t kStep = kMany * kDoubles;
inline constexpr int64_t kBlock = 32;
using Vectors = Many<kMany, vd>;

struct Lanes {
  vb at[kMany];
};
SVENGINE_INLINE Lanes lanes_below(int64_t i, int64_t n) {
  Lanes p;
  SVENGINE_UNROLL
  for (int u = 0; u < kMany; ++u) p.at[u] = svwhilelt_b64(i + u * kDoubles, n);
  return p;
}

SVENGINE_INLINE Vectors repeated(double x) {
  Vectors v;
  SVENGINE_UNROLL
  for (int u = 0; u < kMany; ++u) v.at[u] = vdup(x);
  return v;
}

/// Zeros in lanes that are not loaded.
SVENGINE_INLINE Vectors load(const Lanes& p, const double* x) {
  Vectors v;
  SVENGINE_UNROLL
  for (int u = 0; u < kMany; ++u) v.at[u] = svld1(p.at[u], x + u * kDoubles);
  return v;
}
SVENGINE_INLINE void store(const Lanes& p, double* y, const Vectors& v) {
  SVENGINE_UNROLL
  for (int u = 0; u < kMany; ++u) svst1(p.at[u], y + u * kDoubles, v.at[u]);
}

/// a + b in the lanes of p, a elsewhere.
SVENGINE_INLINE void add(const Lanes& p, Vectors& a, const Vectors& b) {
  SVENGINE_UNROLL
  for (int u = 0; u < kMany; ++u) a.at[u] = svadd_m(p.at[u], a.at[u], b.at[u]);
}

/// f(i, lanes) for i = 0, kStep, ... below n.
template <class F>
SVENGINE_INLINE void for_steps(int64_t n, const F& f) {
  const Lanes all = lanes_below(0, kStep);
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) f(i, all);
  if (i < n) f(i, lanes_below(i, n));
}

/// sums[k] = the sum of v[k] for all i below n, which term(i, lanes, v) computes a step at a time.
template <int kSums, class Term>
SVENGINE_INLINE void sum_line(int64_t n, double (&sums)[kSums], const Term& term) {
  vd total[kSums];
  for (vd& t : total) t = vdup(0.0);
  for (int64_t first = 0; first < n; first += kBlock * kStep) {
    Vectors sum[kSums];
    for (Vectors& s : sum) s = repeated(0.0);
    for_steps(smaller(n - first, kBlock * kStep), [&](int64_t i, const Lanes& p) SVENGINE_INLINE_LAMBDA {
      Vectors v[kSums];
      term(first + i, p, v);
      SVENGINE_UNROLL
      for (int k = 0; k < kSums; ++k) add(p, sum[k], v[k]);
    });
    SVENGINE_UNROLL
    for (int k = 0; k < kSums; ++k)
      total[k] = vadd(total[k], vadd(vadd(sum[k].at[0], sum[k].at[1]), vadd(sum[k].at[2], sum[k].at[3])));
  }
  for (int k = 0; k < kSums; ++k) sums[k] = svaddv(svptrue_b64(), total[k]);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
