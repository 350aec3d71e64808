// Weights of a few bits as vectors of floats.
//
//   word of a column     7 6 5 4 3 2 1 0      4 bits: steps of the depth by nibble are  7 3 6 2 5 1 4 0
//   a shift, a mask, and either a lookup in a vector of the sixteen levels or a conversion make a level a float; then less the zero point,
//   times the scale, both as vectors of a block's columns
#pragma once
#include "engine/kernels/n_bits.h"
#include "engine/kernels/sve/quantized/dot.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int kPartsOfPanel = kNBitsColumns / kLanes;  // vectors

/// Where step `step` of a word lies in it.
constexpr uint32_t level_shift(int bits, int64_t step) { return static_cast<uint32_t>(step % 4 * 8 + step / 4 * bits); }

/// Zero points that are all the middle of the levels need no vector.
enum class NBitsZeros { kMiddle, kGiven };

/// What makes levels weights, of the columns of a vector.
template <int kBits, NBitsZeros kZeros>
struct LevelVectors {
  static constexpr bool kLooksUp = kBits == 4 && kLanes == 16;
  static constexpr float kMiddle = 1 << (kBits - 1);
  vf table;  // kLooksUp: the levels, less the middle where that is the zero point
  vf zero, scale;

  SVENGINE_INLINE LevelVectors() {
    const vb all = svptrue_b32();
    table = svcvt_f32_x(all, svindex_s32(0, 1));
    if constexpr (kZeros == NBitsZeros::kMiddle) table = svsub_x(all, table, svdup_f32(kMiddle));
    zero = svdup_f32(kMiddle);
  }
  /// Of the block whose factors begin at element `at`.
  SVENGINE_INLINE void set(const NBitsMatrix& b, int64_t at) {
    const vb all = svptrue_b32();
    scale = svld1(all, b.scales + at);
    if constexpr (kZeros == NBitsZeros::kGiven) {
      if (b.zeros) zero = svcvt_f32_x(all, svld1ub_u32(all, b.zeros + at));
      else if (b.float_zeros) zero = svld1(all, b.float_zeros + at);
    }
  }
  /// The level in the low bits, others above it.
  SVENGINE_INLINE vf weight(vu word) const {
    const vb all = svptrue_b32();
    vf level;
    if constexpr (kLooksUp) {
      level = sve_bytes::looked_up(table, word);
      if constexpr (kZeros == NBitsZeros::kGiven) level = svsub_x(all, level, zero);
    } else {
      level = svcvt_f32_x(all, vu(svand_x(all, word, (1 << kBits) - 1)));
      level = svsub_x(all, level, zero);
    }
    return svmul_x(all, level, scale);
  }
};

/// Calls run<kBits, kZeros>() for a matrix. 2 and 8 bits are rare: their middle is a given zero point like any other.
template <class Run>
SVENGINE_INLINE void dispatch_bits(const NBitsMatrix& b, Run&& run) {
  const bool middle = !b.zeros && !b.float_zeros;
  if (b.bits == 2) run.template operator()<2, NBitsZeros::kGiven>();
  else if (b.bits == 8) run.template operator()<8, NBitsZeros::kGiven>();
  else if (middle) run.template operator()<4, NBitsZeros::kMiddle>();
  else run.template operator()<4, NBitsZeros::kGiven>();
}

/// Sums of vectors of columns become rows [row, row + rows) of C.
template <int kRows>
void store_rows(const NBitsRowsArgs& args, int64_t first, int64_t row, int64_t rows, const vf (&sums)[kRows]) {
  const vb exists = svwhilelt_b32(first, args.b.n);
  for (int r = 0; r < kRows; ++r) {
    if (r >= rows) break;
    const vf x = args.bias ? vf(svadd_x(svptrue_b32(), sums[r], svld1(exists, args.bias + first))) : sums[r];
    svst1(exists, args.c + (row + r) * args.ldc + first, x);
  }
}

inline constexpr int kRowsOfBits = 4;

int64_t n_bits_round_tasks(const NBitsRoundArgs& args) noexcept;
void n_bits_round(const NBitsRoundArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;
int64_t n_bits_rows_tasks(const NBitsRowsArgs& args) noexcept;
void n_bits_rows(const NBitsRowsArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET

// What multiplies no bytes is the same code in all variants of a set.
namespace svengine::kernels::SVENGINE_BASE_SET {

/// Rows [row, row + rows) of a panel's columns, rows <= kRowsOfBits.
void multiply_levels(const NBitsRowsArgs& args, int64_t panel, int64_t row, int64_t rows);
void n_bits_unpack(const NBitsUnpackArgs& args) noexcept;

}  // namespace svengine::kernels::SVENGINE_BASE_SET
