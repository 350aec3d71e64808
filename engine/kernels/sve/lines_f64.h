// Loops over contiguous doubles: kMany vectors a step, the last step with what lanes there are, and blocked sums.
//
//     x [v0 v1 v2 v3][v0 v1 v2 v3] ...      kMany accumulators; after kBlock steps all of them are added to the total
//
// so the error of a long line's sum grows with the number of its blocks only.
#pragma once
#include "engine/kernels/sve/element.h"
#include "engine/kernels/sve/math/many.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int kMany = 4;  // vectors in lockstep along a line
inline constexpr int64_t kStep = kMany * kLanesOf<double>;
inline constexpr int64_t kBlock = 32;
using Vectors = Many<kMany, vd>;

/// Which lanes of N neighbouring vectors take part.
template <int N>
struct LanesOf {
  vb at[N];
};
using Lanes = LanesOf<kMany>;

/// Those of i, i + 1, ... that are below n.
template <int N>
SVENGINE_INLINE LanesOf<N> some_lanes(int64_t i, int64_t n) {
  LanesOf<N> p;
  SVENGINE_UNROLL
  for (int u = 0; u < N; ++u) p.at[u] = lanes_below<double>(i + u * kLanesOf<double>, n);
  return p;
}

template <int N>
SVENGINE_INLINE Many<N, vd> many_of(double x) {
  Many<N, vd> v;
  SVENGINE_UNROLL
  for (int u = 0; u < N; ++u) v.at[u] = vdup(x);
  return v;
}

/// Zeros in lanes that are not loaded.
template <int N>
SVENGINE_INLINE Many<N, vd> load(const LanesOf<N>& p, const double* x) {
  Many<N, vd> v;
  SVENGINE_UNROLL
  for (int u = 0; u < N; ++u) v.at[u] = svld1(p.at[u], x + u * kLanesOf<double>);
  return v;
}
template <int N>
SVENGINE_INLINE void store(const LanesOf<N>& p, double* y, const Many<N, vd>& v) {
  SVENGINE_UNROLL
  for (int u = 0; u < N; ++u) svst1(p.at[u], y + u * kLanesOf<double>, v.at[u]);
}

/// a + b in the lanes of p, a elsewhere.
template <int N>
SVENGINE_INLINE void add(const LanesOf<N>& p, Many<N, vd>& a, const Many<N, vd>& b) {
  SVENGINE_UNROLL
  for (int u = 0; u < N; ++u) a.at[u] = svadd_m(p.at[u], a.at[u], b.at[u]);
}

/// f(i, lanes) for i = 0, kStep, ... below n.
template <class F>
SVENGINE_INLINE void for_steps(int64_t n, const F& f) {
  const Lanes all = some_lanes<kMany>(0, kStep);
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) f(i, all);
  if (i < n) f(i, some_lanes<kMany>(i, n));
}

/// sums[k] = the sum of v[k] for all i below n, which term(i, lanes, v) computes a step at a time.
template <int kSums, class Term>
SVENGINE_INLINE void sum_line(int64_t n, double (&sums)[kSums], const Term& term) {
  vd total[kSums];
  for (vd& t : total) t = vdup(0.0);
  for (int64_t first = 0; first < n; first += kBlock * kStep) {
    Vectors sum[kSums];
    for (Vectors& s : sum) s = many_of<kMany>(0);
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
