// Products of floats with weights of 2, 4 or 8 bits, which have a scale and perhaps a zero point for every block of a column:
//
//   weight[d][c] = (float(level[d][c]) - zero[d / block][c]) * scale[d / block][c]        each operation rounded to float32
//   C[r][c] = bias[c] + sum over d < k of A[r][d] * weight[d][c]
//
// Weights stay as they are in memory: few rows are multiplied while levels are unpacked in registers, for many rows pieces of B become
// panels of the float product (gemm.h). Levels are packed beforehand, for every kernel set alike:
//
//   levels   [ceil(n / 16)][ceil(k / 16)][bits / 2][16] words of 32 bits: column c of a panel has word c of each sixteen, for as many steps of
//            the depth as it has levels. Step d of them lies at bit 8 (d % 4) + bits (d / 4): four steps in a row are bytes under one mask
//   scales   [ceil(n / 16)][ceil(k / block)][16] floats; zeros likewise, uint8 or float
//
// Scales and zeros of columns beyond n are 0, and so are their levels; those beyond k are anything.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

inline constexpr int64_t kNBitsColumns = 16;

struct NBitsMatrix {
  int64_t k = 0, n = 0;
  int64_t bits = 4;    // 2, 4 or 8
  int64_t block = 32;  // a power of two from 16 on
  const uint32_t* levels = nullptr;
  const float* scales = nullptr;
  const uint8_t* zeros = nullptr;  // null, and no float_zeros: 2^(bits - 1) everywhere
  const float* float_zeros = nullptr;
};

constexpr int64_t n_bits_panels(int64_t n) { return (n + kNBitsColumns - 1) / kNBitsColumns; }
constexpr int64_t n_bits_steps(int64_t bits) { return 32 / bits; }
/// Words of a column.
constexpr int64_t n_bits_words(int64_t k, int64_t bits) { return (k + 15) / 16 * (bits / 2); }
constexpr int64_t n_bits_blocks(int64_t k, int64_t block) { return (k - 1) / block + 1; }
constexpr int64_t n_bits_level_bytes(int64_t k, int64_t n, int64_t bits) { return n_bits_panels(n) * n_bits_words(k, bits) * kNBitsColumns * 4; }
/// Elements of scales and zeros.
constexpr int64_t n_bits_factors(int64_t k, int64_t n, int64_t block) { return n_bits_panels(n) * n_bits_blocks(k, block) * kNBitsColumns; }

/// Panels [begin, end) of levels from com.microsoft's order: [n][blocks][block * bits / 8] bytes, the first level in the low bits.
void pack_n_bits(const NBitsMatrix& b, const uint8_t* source, uint32_t* levels, int64_t begin, int64_t end) noexcept;

/// Rows of A as integers of 16 bits, for products that need no more exact A (accuracy_level of MatMulNBits): a[d] is about
/// number[d] * scale[d / group], where scale is what the largest of a group needs. A row is
///
///   numbers  [ceil(k / 16)][2][16] int8: high bytes and low ones, which are signed, too, so number = 256 high + low; 0 beyond k
///   scales   [groups] floats
///   sums     [groups] int32, of the numbers
struct NBitsRounded {
  const int8_t* numbers = nullptr;
  const float* scales = nullptr;
  const int32_t* sums = nullptr;
  const int32_t* rounded = nullptr;  // [m]; 0: a row that holds what has no such form, as infinities: it is multiplied as it is
};
constexpr int64_t n_bits_group(int64_t block) { return block < 128 ? block : 128; }
/// Of a row.
constexpr int64_t n_bits_groups(int64_t k, int64_t block) { return n_bits_blocks(k, n_bits_group(block)); }
constexpr int64_t n_bits_number_bytes(int64_t k) { return (k + 15) / 16 * 32; }

struct NBitsRoundArgs {
  int64_t m = 0, k = 0, block = 0;
  const float* a = nullptr;
  int64_t lda = 0;
  int8_t* numbers = nullptr;
  float* scales = nullptr;
  int32_t* sums = nullptr;
  int32_t* rounded = nullptr;
};

/// Of rows so few that unpacking levels anew for some of them at a time costs less than storing them.
struct NBitsRowsArgs {
  int64_t m = 0;
  NBitsMatrix b;
  const float* a = nullptr;
  int64_t lda = 0;
  float* c = nullptr;
  int64_t ldc = 0;
  const float* bias = nullptr;  // [n]; null: none
  NBitsRounded rounded;         // numbers null: A is multiplied as it is. For 4 bits without float_zeros
};

/// target[(d - depth_begin) * ld + c - column_begin] = weight[d][c] of a piece, 0 beyond n. It begins at a multiple of 16 in columns and
/// depth, and is a multiple of 16 columns wide.
struct NBitsUnpackArgs {
  NBitsMatrix b;
  int64_t depth_begin = 0, depth_end = 0;
  int64_t column_begin = 0, columns = 0;
  float* target = nullptr;
  int64_t ld = 0;
};

struct NBitsKernels {
  TaskKernel<NBitsRoundArgs> round;  // a task is a row
  TaskKernel<NBitsRowsArgs> rows;    // a task is a panel
  void (*unpack)(const NBitsUnpackArgs& args) noexcept;
};

}  // namespace svengine::kernels
