// Attention of a few queries, one query of a decoder above all: k and v are read once, where they lie. Packing them, which many
// queries share the cost of, would take longer than the products.
//
// Scores of kLanes keys at a time: a vector of partial sums for each key, along `size`, and a tree of pairwise sums makes one
// vector of them, key by key in the lanes. The weighted sum of values has its columns in the lanes. Both read their operand as
// one stream.
#pragma once
#include "engine/kernels/attention.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/softmax/exp.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// At most so many queries: their scores' products take as many loads of k from L1 as packing it would, about.
inline constexpr int64_t kFewQueries = 8;

inline bool has_few_queries(const AttentionArgs& args) { return args.queries <= kFewQueries && !args.k_transposed; }

/// Floats of scores of one query: whole vectors.
inline int64_t few_scores(const AttentionArgs& args) { return (args.keys + kLanes - 1) / kLanes * kLanes; }
inline int64_t few_scratch_bytes(const AttentionArgs& args) { return few_scores(args) * args.queries * int64_t{sizeof(float)}; }

/// sums[0] := lane r the sum of all lanes of sums[r].
template <int kCount>
SVENGINE_INLINE void add_up_lanes(vf (&sums)[kLanes]) {
  if constexpr (kCount > 1) {
    SVENGINE_UNROLL
    for (int i = 0; i < kCount / 2; ++i)
      sums[i] = vadd(svuzp1(sums[2 * i], sums[2 * i + 1]), svuzp2(sums[2 * i], sums[2 * i + 1]));
    add_up_lanes<kCount / 2>(sums);
  }
}

/// q k' for kLanes keys from k on, `between` floats apart; those from the `keys`-th on count as the last one.
SVENGINE_INLINE vf dot_products(int64_t size, const float* q, const float* k, int64_t between, int64_t keys) {
  vf sums[kLanes];
  SVENGINE_UNROLL
  for (int r = 0; r < kLanes; ++r) sums[r] = vdup(0.0f);
  if (keys >= kLanes) {
    for (int64_t d = 0; d < size; d += kLanes) {
      const vb p = svwhilelt_b32(d, size);
      const vf x = svld1(p, q + d);
      SVENGINE_UNROLL
      for (int r = 0; r < kLanes; ++r) sums[r] = vfma(x, svld1(p, k + r * between + d), sums[r]);
    }
  } else {
    for (int64_t d = 0; d < size; d += kLanes) {
      const vb p = svwhilelt_b32(d, size);
      const vf x = svld1(p, q + d);
      SVENGINE_UNROLL
      for (int r = 0; r < kLanes; ++r) sums[r] = vfma(x, svld1(p, k + (r < keys ? r : keys - 1) * between + d), sums[r]);
    }
  }
  add_up_lanes<kLanes>(sums);
  return sums[0];
}

/// Scores of all queries, block of keys by block, so that a block's keys come from memory once.
__attribute__((noinline)) inline void few_scores_run(const AttentionArgs& args, const float* q, const float* k, const float* mask,
                                                     float* scores) {
  const int64_t stride = few_scores(args);
  for (int64_t first = 0; first < args.keys; first += kLanes) {
    const vb exists = svwhilelt_b32(first, args.keys);
    for (int64_t i = 0; i < args.queries; ++i) {
      const vf product =
          dot_products(args.size, q + i * args.q_stride.row, k + first * args.k_stride.row, args.k_stride.row, args.keys - first);
      vf score = vmul(product, vdup(args.scale));
      if (mask) score = vfma(product, vdup(args.scale), svld1(exists, mask + i * args.mask_stride.row + first));
      svst1(svptrue_b32(), scores + i * stride + first, vsel(exists, score, vdup(-kInfinity)));
    }
  }
}

/// scores := exp(scores - maximum); gives 1 / their sum.
__attribute__((noinline)) inline float few_weights(int64_t stride, float* scores) {
  const vb all = svptrue_b32();
  vf most = vdup(-kInfinity);
  for (int64_t j = 0; j < stride; j += kLanes) most = vmax(most, svld1(all, scores + j));
  const vf maximum = vdup(svmaxv(all, most));
  vf high = vdup(0.0f), low = vdup(0.0f);
  for (int64_t j = 0; j < stride; j += kLanes) {
    const vf e = vexp_of_difference(vsub(svld1(all, scores + j), maximum));
    svst1(all, scores + j, e);
    two_sum(high, low, e);
  }
  return 1 / lane_sum(high, low);
}

/// y of kVectors vectors of columns from `column` on.
template <int kVectors>
__attribute__((noinline)) void few_values(const AttentionArgs& args, const float* weights, float factor, const float* v, float* y,
                                          int64_t columns) {
  constexpr int kWays = 4;
  vb p[kVectors];
  vf sums[kWays][kVectors];
  SVENGINE_UNROLL
  for (int c = 0; c < kVectors; ++c) p[c] = svwhilelt_b32(int64_t{c} * kLanes, columns);
  SVENGINE_UNROLL
  for (int w = 0; w < kWays; ++w) SVENGINE_UNROLL
  for (int c = 0; c < kVectors; ++c) sums[w][c] = vdup(0.0f);
  const int64_t ld = args.v_stride.row;
  int64_t j = 0;
  for (; j + kWays <= args.keys; j += kWays, v += kWays * ld) {
    SVENGINE_UNROLL
    for (int w = 0; w < kWays; ++w) {
      const vf weight = vdup(weights[j + w]);
      SVENGINE_UNROLL
      for (int c = 0; c < kVectors; ++c) sums[w][c] = vfma(weight, svld1(p[c], v + w * ld + c * kLanes), sums[w][c]);
    }
  }
  for (; j < args.keys; ++j, v += ld) {
    const vf weight = vdup(weights[j]);
    SVENGINE_UNROLL
    for (int c = 0; c < kVectors; ++c) sums[0][c] = vfma(weight, svld1(p[c], v + c * kLanes), sums[0][c]);
  }
  SVENGINE_UNROLL
  for (int c = 0; c < kVectors; ++c) {
    const vf sum = vadd(vadd(sums[0][c], sums[1][c]), vadd(sums[2][c], sums[3][c]));
    svst1(p[c], y + c * kLanes, vmul(sum, vdup(factor)));
  }
}

/// All queries of one head.
inline void run_few_queries(const AttentionArgs& args, const float* q, const float* k, const float* v, const float* mask,
                            float* y, float* scores) {
  constexpr int kVectors = 4;
  few_scores_run(args, q, k, mask, scores);
  for (int64_t i = 0; i < args.queries; ++i) {
    float* weights = scores + i * few_scores(args);
    const float factor = args.keys > 0 ? few_weights(few_scores(args), weights) : 0.0f;
    float* row = y + i * args.y_stride.row;
    int64_t column = 0;
    for (; column + (kVectors - 1) * kLanes < args.value_size; column += kVectors * kLanes)
      few_values<kVectors>(args, weights, factor, v + column, row + column, args.value_size - column);
    for (; column < args.value_size; column += kLanes)
      few_values<1>(args, weights, factor, v + column, row + column, args.value_size - column);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
