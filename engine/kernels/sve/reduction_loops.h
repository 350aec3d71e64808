// Loops over one contiguous line of floats: for each vector, sum, maximum. Shared by softmax, norms and reductions.
//
// Sums must be fast (many independent accumulators: FADD takes 9 cycles on A64FX), accurate (a long line summed in few
// accumulators loses digits) and the same on every thread count. So a line is cut into blocks of kBlockSteps x U
// vectors:
//
//   block:        U accumulators, each adding up kBlockSteps vectors     error grows with kBlockSteps only
//   second level: the block's sum is added to `high` by two_sum, the rounding error collected in `low`
//   end:          high + low, then its lanes, neighbours first (FADDV)
//
// The last, partial step of a block works under WHILELT predicates: lanes beyond the end are never added, loads read
// them as zero, and every accumulator starts from its neutral element. Functions are given the index and the predicate;
// they must load under the predicate (svld1 zeroes the other lanes) and compute with all lanes.
#pragma once
#include "engine/kernels/sve/math/base.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int kBlockSteps = 16;

/// f(i, predicate) for i = 0, kLanes, 2 kLanes, ... below n; U calls a step, so that their latencies overlap.
template <int U, class F>
SVENGINE_INLINE void for_each_vector(int64_t n, const F& f) {
  const vb all = svptrue_b32();
  int64_t i = 0;
  for (; i + U * kLanes <= n; i += U * kLanes) {
    SVENGINE_UNROLL
    for (int u = 0; u < U; ++u) f(i + u * kLanes, all);
  }
  for (; i < n; i += kLanes) {
    const vb p = svwhilelt_b32(i, n);
    f(i, p);
  }
}

/// high + low += v, without error as long as nothing overflows (Knuth's two-sum).
SVENGINE_INLINE void two_sum(vf& high, vf& low, vf v) {
  const vb all = svptrue_b32();
  const vf sum = svadd_x(all, high, v);
  const vf from_v = svsub_x(all, sum, high);
  const vf from_high = svsub_x(all, sum, from_v);
  const vf high_error = svsub_x(all, high, from_high);
  const vf v_error = svsub_x(all, v, from_v);
  low = svadd_x(all, low, svadd_x(all, high_error, v_error));
  high = sum;
}

/// The rounded value of high + low. Infinities make `low` NaN (infinity - infinity); then `high` alone is the answer.
SVENGINE_INLINE vf compensated(vf high, vf low) {
  const vb all = svptrue_b32();
  const vb usable = svcmpeq(all, low, low);
  return svadd_x(all, high, svsel(usable, low, svdup_f32(0.0f)));
}

/// compensated(high, low) after a fresh accumulation over a line of n in U accumulators: one block leaves low zero.
template <int U>
SVENGINE_INLINE vf compensated_line(int64_t n, vf high, vf low) {
  return n <= kBlockSteps * U * kLanes ? high : compensated(high, low);
}

/// The sum of all lanes of high + low.
SVENGINE_INLINE float lane_sum(vf high, vf low) { return svaddv(svptrue_b32(), compensated(high, low)); }

/// acc[0] of U accumulators := all of them, as a tree.
template <int U, class Op>
SVENGINE_INLINE void combine(vf (&acc)[U], const Op& op) {
  SVENGINE_UNROLL
  for (int width = U / 2; width > 0; width /= 2) {
    SVENGINE_UNROLL
    for (int u = 0; u < width; ++u) acc[u] = op(acc[u], acc[u + width]);
  }
}

/// high[k] + low[k] += K sums over a line. f(i, predicates, acc) adds the shares of U vectors from i on to acc[A][K], vector u
/// in the lanes of predicates[u], leaving the others alone (_m forms). U and A are powers of two. `fresh`: high and low are
/// still zero, so the first block needs no two_sum (whose six dependent additions would cost a short line as much as all its
/// elements).
template <int U, int A, int K, class F>
SVENGINE_INLINE void accumulate_steps(int64_t n, vf (&high)[K], vf (&low)[K], bool fresh, const F& f) {
  const vb all = svptrue_b32();
  for (int64_t i = 0; i < n;) {
    vf acc[A][K];
    vb p[U];
    SVENGINE_UNROLL
    for (int u = 0; u < K * A; ++u) acc[u / K][u % K] = svdup_f32(0.0f);
    SVENGINE_UNROLL
    for (int u = 0; u < U; ++u) p[u] = all;
    int steps = 0;
    for (; steps < kBlockSteps && i + U * kLanes <= n; ++steps, i += U * kLanes) f(i, p, acc);
    if (steps < kBlockSteps && i < n) {
      SVENGINE_UNROLL
      for (int u = 0; u < U; ++u) p[u] = svwhilelt_b32(i + u * kLanes, n);
      f(i, p, acc);
      i = n;
    }
    for (int k = 0; k < K; ++k) {
      SVENGINE_UNROLL
      for (int width = A / 2; width > 0; width /= 2) {
        SVENGINE_UNROLL
        for (int u = 0; u < width; ++u) acc[u][k] = svadd_x(all, acc[u][k], acc[u + width][k]);
      }
      if (fresh)
        high[k] = acc[0][k];
      else
        two_sum(high[k], low[k], acc[0][k]);
    }
    fresh = false;
  }
}

/// The same where f(i, predicate, acc) adds one vector's share to acc[K].
template <int U, int K, class F>
SVENGINE_INLINE void accumulate_line(int64_t n, vf (&high)[K], vf (&low)[K], bool fresh, const F& f) {
  accumulate_steps<U, U, K>(n, high, low, fresh, [&f](int64_t i, const vb(&p)[U], vf(&acc)[U][K]) SVENGINE_INLINE_LAMBDA {
    SVENGINE_UNROLL
    for (int u = 0; u < U; ++u) f(i + u * kLanes, p[u], acc[u]);
  });
}

/// high[k] + low[k] += sum over i of v[k], where f(i, predicate, v) computes vf v[K] of one vector of the line.
template <int U, int K, class F>
SVENGINE_INLINE void add_line(int64_t n, vf (&high)[K], vf (&low)[K], bool fresh, const F& f) {
  accumulate_line<U, K>(n, high, low, fresh, [&f](int64_t i, vb p, vf(&acc)[K]) SVENGINE_INLINE_LAMBDA {
    vf v[K];
    f(i, p, v);
    for (int k = 0; k < K; ++k) acc[k] = svadd_m(p, acc[k], v[k]);
  });
}

/// Lane r of the result is `op` over all lanes of v[r], neighbours first, as FADDV and FMAXV do it for one vector. Four
/// vectors share every step, where four FADDV would take 64 cycles each on A64FX:
///
///     v0 v1 | v2 v3   UZP1 op UZP2   ->   v0 v0 v1 v1 | v2 v2 v3 v3   ->   v0 v1 v2 v3   ->   ...
template <class Op>
SVENGINE_INLINE vf lanes_of_four(const vf (&v)[4], const Op& op) {
  const vf a = op(svuzp1(v[0], v[1]), svuzp2(v[0], v[1]));
  const vf b = op(svuzp1(v[2], v[3]), svuzp2(v[2], v[3]));
  vf r = op(svuzp1(a, b), svuzp2(a, b));
  SVENGINE_UNROLL
  for (int width = kLanes / 4; width > 1; width /= 2) r = op(svuzp1(r, r), svuzp2(r, r));
  return r;
}

/// out[k] = sum over i of v[k].
template <int U, int K, class F>
SVENGINE_INLINE void line_sums(int64_t n, float (&out)[K], const F& f) {
  vf high[K], low[K];
  for (int k = 0; k < K; ++k) high[k] = low[k] = svdup_f32(0.0f);
  add_line<U, K>(n, high, low, true, f);
  for (int k = 0; k < K; ++k) out[k] = lane_sum(high[k], low[k]);
}

template <int U, class F>
SVENGINE_INLINE float line_sum(int64_t n, const F& f) {
  float out[1];
  line_sums<U, 1>(n, out, [&f](int64_t i, vb p, vf(&v)[1]) SVENGINE_INLINE_LAMBDA { v[0] = f(i, p); });
  return out[0];
}

/// The lanes of `start`, joined with every element f(i, predicate) of the line; `identity` is the neutral element of
/// `join`.
template <int U, class Join, class F>
SVENGINE_INLINE vf join_line(int64_t n, vf start, vf identity, const Join& join, const F& f) {
  const vb all = svptrue_b32();
  vf acc[U];
  acc[0] = start;
  SVENGINE_UNROLL
  for (int u = 1; u < U; ++u) acc[u] = identity;
  int64_t i = 0;
  for (; i + U * kLanes <= n; i += U * kLanes) {
    SVENGINE_UNROLL
    for (int u = 0; u < U; ++u) acc[u] = join(acc[u], f(i + u * kLanes, all));
  }
  if (i < n) {
    SVENGINE_UNROLL
    for (int u = 0; u < U; ++u) {
      const vb p = svwhilelt_b32(i + u * kLanes, n);
      acc[u] = svsel(p, join(acc[u], f(i + u * kLanes, p)), acc[u]);
    }
  }
  combine(acc, join);
  return acc[0];
}

/// The maximum of a line, NaN when it holds one, -infinity when n is 0.
template <int U, class F>
SVENGINE_INLINE float line_max(int64_t n, const F& f) {
  const vb all = svptrue_b32();
  const auto join = [all](vf a, vf b) SVENGINE_INLINE_LAMBDA -> vf { return svmax_x(all, a, b); };
  return svmaxv(all, join_line<U>(n, vdup(-kInfinity), vdup(-kInfinity), join, f));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
