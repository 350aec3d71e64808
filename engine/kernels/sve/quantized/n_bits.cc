// Rows times weights of a few bits: a task is a panel of columns, gone over once for every few rows. Columns are the lanes; a weight is made
// once and multiplied by a number of each row.
#include "engine/kernels/sve/quantized/n_bits.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

/// Sums side by side, by steps of the depth: one row's would wait for each other.
constexpr int level_ways(int rows) { return rows == 1 ? 4 : 2; }

template <int kRows>
struct LevelSums {
  vf at[level_ways(kRows)][kRows];
};

/// sums += rows of A times the steps of a word of every column.
template <int kBits, NBitsZeros kZeros, int kRows>
SVENGINE_INLINE void add_word(const LevelVectors<kBits, kZeros>& levels, vu word, const float* const (&a)[kRows], int64_t d,
                              LevelSums<kRows>& sums) {
  const vb all = svptrue_b32();
  SVENGINE_UNROLL
  for (int step = 0; step < 32 / kBits; ++step) {
    const vf weight = levels.weight(svlsr_x(all, word, level_shift(kBits, step)));
    vf(&sum)[kRows] = sums.at[step % level_ways(kRows)];
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) sum[r] = svmla_x(all, sum[r], weight, svdup_f32(a[r][d + step]));
  }
}

/// The first `left` steps of a word alone.
template <int kBits, NBitsZeros kZeros, int kRows>
SVENGINE_INLINE void add_part_of_word(const LevelVectors<kBits, kZeros>& levels, vu word, const float* const (&a)[kRows], int64_t d,
                                      int64_t left, LevelSums<kRows>& sums) {
  const vb all = svptrue_b32();
#pragma GCC unroll 1
  for (int64_t step = 0; step < left; ++step) {
    const vf weight = levels.weight(svlsr_x(all, word, svdup_u32(level_shift(kBits, step))));
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) sums.at[0][r] = svmla_x(all, sums.at[0][r], weight, svdup_f32(a[r][d + step]));
  }
}

/// The sums of a vector of columns, those of part `part` of panel `panel`.
template <int kBits, NBitsZeros kZeros, int kRows>
__attribute__((noinline)) void sum_levels(const NBitsMatrix& b, int64_t panel, int64_t part, const float* const (&rows)[kRows],
                                          vf (&result)[kRows]) {
  constexpr int kSteps = 32 / kBits, kWays = level_ways(kRows);
  const vb all = svptrue_b32();
  const float* a[kRows];
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) a[r] = rows[r];
  LevelSums<kRows> sums;
  SVENGINE_UNROLL
  for (int w = 0; w < kWays; ++w) SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) sums.at[w][r] = svdup_f32(0);
  LevelVectors<kBits, kZeros> levels;
  const uint32_t* word = b.levels + panel * n_bits_words(b.k, kBits) * kNBitsColumns + part * kLanes;
  int64_t factor = panel * n_bits_blocks(b.k, b.block) * kNBitsColumns + part * kLanes;
  for (int64_t d = 0; d < b.k; factor += kNBitsColumns) {
    levels.set(b, factor);
    const int64_t end = smaller(d + b.block, b.k);
    for (; d + kSteps <= end; d += kSteps, word += kNBitsColumns) {
      if constexpr (kBits != 4) add_part_of_word(levels, svld1(all, word), a, d, kSteps, sums);  // rare: its code is small
      else add_word(levels, svld1(all, word), a, d, sums);
    }
    if (d < end) add_part_of_word(levels, svld1(all, word), a, d, end - d, sums);
    d = end;
  }
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    SVENGINE_UNROLL
    for (int w = 1; w < kWays; ++w) sums.at[0][r] = svadd_x(all, sums.at[0][r], sums.at[w][r]);
    result[r] = sums.at[0][r];
  }
}

template <int kRows>
using SumLevels = void (*)(const NBitsMatrix& b, int64_t panel, int64_t part, const float* const (&rows)[kRows], vf (&result)[kRows]);

template <int kRows>
SumLevels<kRows> sum_levels_of(const NBitsMatrix& b) {
  SumLevels<kRows> sum = nullptr;
  dispatch_bits(b, [&]<int kBits, NBitsZeros kZeros>() { sum = sum_levels<kBits, kZeros, kRows>; });
  return sum;
}

/// Rows [row, row + rows) of a panel's columns, rows <= kRows.
template <int kRows>
void multiply_levels_by(const NBitsRowsArgs& args, int64_t panel, int64_t row, int64_t rows, SumLevels<kRows> sum) {
  const float* a[kRows];
  for (int r = 0; r < kRows; ++r) a[r] = args.a + (row + (r < rows ? r : 0)) * args.lda;
  for (int64_t part = 0; part < kPartsOfPanel; ++part) {
    const int64_t first = panel * kNBitsColumns + part * kLanes;
    if (first >= args.b.n) return;
    vf sums[kRows];
    sum(args.b, panel, part, a, sums);
    store_rows(args, first, row, rows, sums);
  }
}

/// A loop by steps: for rows so many that unpacking counts little, its code is small.
template <int kBits, NBitsZeros kZeros>
void unpack_part(const NBitsUnpackArgs& args, int64_t panel, int64_t part, float* target) {
  constexpr int64_t kSteps = 32 / kBits;
  const vb all = svptrue_b32();
  const NBitsMatrix& b = args.b;
  const uint32_t* word = b.levels + (panel * n_bits_words(b.k, kBits) + args.depth_begin / kSteps) * kNBitsColumns + part * kLanes;
  const int64_t factors = panel * n_bits_blocks(b.k, b.block) * kNBitsColumns + part * kLanes;
  LevelVectors<kBits, kZeros> levels;
  for (int64_t d = args.depth_begin; d < args.depth_end;) {
    levels.set(b, factors + d / b.block * kNBitsColumns);
    const int64_t end = smaller((d / b.block + 1) * b.block, args.depth_end);
    for (; d < end; word += kNBitsColumns) {
      const vu sixteen = svld1(all, word);
      const int64_t stop = smaller(d + kSteps, end);
#pragma GCC unroll 1
      for (int64_t step = 0; d < stop; ++step, ++d, target += args.ld)
        svst1(all, target, levels.weight(svlsr_x(all, sixteen, svdup_u32(level_shift(kBits, step)))));
    }
  }
}

}  // namespace

void multiply_levels(const NBitsRowsArgs& args, int64_t panel, int64_t row, int64_t rows) {
  if (rows == 1) multiply_levels_by<1>(args, panel, row, 1, sum_levels_of<1>(args.b));
  else multiply_levels_by<kRowsOfBits>(args, panel, row, rows, sum_levels_of<kRowsOfBits>(args.b));
}

void n_bits_unpack(const NBitsUnpackArgs& args) noexcept {
  const int64_t panels = n_bits_panels(args.b.n);
  dispatch_bits(args.b, [&]<int kBits, NBitsZeros kZeros>() {
    for (int64_t column = 0; column < args.columns; column += kLanes) {
      const int64_t panel = (args.column_begin + column) / kNBitsColumns;
      float* target = args.target + column;
      if (panel < panels) unpack_part<kBits, kZeros>(args, panel, column % kNBitsColumns / kLanes, target);
      else for (int64_t d = args.depth_begin; d < args.depth_end; ++d, target += args.ld) svst1(svptrue_b32(), target, svdup_f32(0));
    }
  });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
