// The transform of inputs that Winograd's convolution and its gradient of weights share: B^T d B, a pair of rows of frequencies at a
// time (conv/winograd/winograd.h has the matrices).
#pragma once
#include "engine/kernels/sve/conv/winograd/winograd.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

inline constexpr int kPairs = 3;  // of rows of frequencies

/// B^T d at the rows of pair kPair: 0 is rows 0 and 5, 1 is 1 and 2, 2 is 3 and 4.
template <int kPair>
SVENGINE_INLINE void input_pair(const vf (&d)[kTileIn], vf& first, vf& second) {
  const vb all = svptrue_b32();
  if constexpr (kPair == 0) {
    const vf four = svdup_f32(4.0f), five = svdup_f32(-5.0f);
    first = svmla_x(all, svmla_x(all, d[4], d[2], five), d[0], four);
    second = svmla_x(all, svmla_x(all, d[5], d[3], five), d[1], four);
  } else if constexpr (kPair == 1) {
    const vf four = svdup_f32(-4.0f);
    const vf even = svmla_x(all, d[4], d[2], four), odd = svmla_x(all, d[3], d[1], four);
    first = svadd_x(all, even, odd);
    second = svsub_x(all, even, odd);
  } else {
    const vf even = svsub_x(all, d[4], d[2]), odd = svsub_x(all, d[3], d[1]);
    first = svmla_x(all, even, odd, svdup_f32(2.0f));
    second = svmla_x(all, even, odd, svdup_f32(-2.0f));
  }
}

/// The six frequencies of one row, to the places that their numbers say.
SVENGINE_INLINE void input_row(const vf (&d)[kTileIn], float* to, int64_t step) {
  const vb all = svptrue_b32();
  vf o[kTileIn];
  input_pair<0>(d, o[0], o[1]);
  input_pair<1>(d, o[2], o[3]);
  input_pair<2>(d, o[4], o[5]);
  SVENGINE_UNROLL
  for (int j = 0; j < kTileIn; ++j) svst1(all, to + j * step, o[j]);
}

/// Which of a tile's rows and columns of inputs lie in the image.
struct Inside {
  Range rows, columns;
  constexpr bool row(int i) const { return i >= rows.begin && i < rows.end; }
  constexpr bool column(int j) const { return j >= columns.begin && j < columns.end; }
};

/// Floats between rows and columns of frequencies.
struct Steps {
  int64_t row, column;
};

/// B^T d B at the twelve frequencies of a pair of rows, the first of which goes to `to`.
template <int kPair, bool kWhole>
SVENGINE_INLINE void input_tile_pair(const float* from, int64_t row_step, const Inside& inside, float* to, const Steps& steps) {
  constexpr bool kReads[kPairs][kTileIn] = {{1, 1, 1, 1, 1, 1}, {0, 1, 1, 1, 1, 0}, {0, 1, 1, 1, 1, 0}};
  vf first[kTileIn], second[kTileIn];
  SVENGINE_UNROLL
  for (int j = 0; j < kTileIn; ++j) {
    first[j] = second[j] = svdup_f32(0.0f);
    if (!kWhole && !inside.column(j)) continue;
    vf d[kTileIn];
    SVENGINE_UNROLL
    for (int i = 0; i < kTileIn; ++i) {
      if (!kReads[kPair][i]) continue;
      const vb there = kWhole ? svptrue_b32() : svwhilelt_b32(int64_t{0}, int64_t{inside.row(i) ? kLanes : 0});
      d[i] = svld1(there, from + i * row_step + j * kLanes);
    }
    input_pair<kPair>(d, first[j], second[j]);
  }
  input_row(first, to, steps.column);
  input_row(second, to + steps.row, steps.column);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
