// Matrix products of float64 and of integers, in tiles of registers that the compiler vectorises. Sums run over the whole depth
// in order, so they depend on the shape alone; integers wrap.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace svengine::ops::wide {

inline constexpr int64_t kTile = 64;    // rows and columns of the result that a task computes
inline constexpr int64_t kDepth = 128;  // of the operands packed at once: both fit a level-2 cache of 256 KiB
inline constexpr int64_t kStripRows = 4;

/// Columns that are summed in registers: with kStripRows rows half of the sixteen 16-byte registers of SSE2.
template <class T>
inline constexpr int64_t kStripColumns = 32 / static_cast<int64_t>(sizeof(T));

/// A thread's memory: operands in strips [strip][depth][row or column of the strip], sums row by row.
template <class T>
struct TileMemory {
  T a[kTile * kDepth], b[kTile * kDepth], sums[kTile * kTile];
};

/// Packs `extent` <= kTile rows (or columns) of `depth` operands; fill(k, extent, to) writes those at depth k one after the
/// other.
template <int64_t kStrip, class T, class Fill>
void pack_strips(T* packed, int64_t extent, int64_t first, int64_t depth, const Fill& fill) {
  T line[kTile] = {};
  for (int64_t k = 0; k < depth; ++k) {
    fill(first + k, extent, line);
    for (int64_t i = 0; i < extent; i += kStrip)
      for (int64_t s = 0; s < kStrip; ++s) packed[i * kDepth + k * kStrip + s] = line[i + s];
  }
}

template <class T>
void add_strip(const T* a, const T* b, int64_t depth, T* sums) {
  constexpr int64_t kColumns = kStripColumns<T>;
  T sum[kStripRows][kColumns];
  for (int64_t r = 0; r < kStripRows; ++r)
    for (int64_t c = 0; c < kColumns; ++c) sum[r][c] = sums[r * kTile + c];
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t r = 0; r < kStripRows; ++r)
      for (int64_t c = 0; c < kColumns; ++c) sum[r][c] += a[k * kStripRows + r] * b[k * kColumns + c];
  for (int64_t r = 0; r < kStripRows; ++r)
    for (int64_t c = 0; c < kColumns; ++c) sums[r * kTile + c] = sum[r][c];
}

/// Rows x columns of a product: fill_a(k, rows, to) gives A's elements at depth k, fill_b(k, columns, to) B's. Row i of the sums
/// begins at memory.sums + i kTile.
template <class T, class FillA, class FillB>
void product_tile(TileMemory<T>& memory, int64_t rows, int64_t columns, int64_t depth, const FillA& fill_a, const FillB& fill_b) {
  static_assert(!std::is_integral_v<T> || std::is_unsigned_v<T>, "what wraps is unsigned");
  std::fill_n(memory.sums, kTile * kTile, T(0));
  for (int64_t first = 0; first < depth; first += kDepth) {
    const int64_t part = std::min(kDepth, depth - first);
    pack_strips<kStripRows>(memory.a, rows, first, part, fill_a);
    pack_strips<kStripColumns<T>>(memory.b, columns, first, part, fill_b);
    for (int64_t i = 0; i < rows; i += kStripRows)
      for (int64_t j = 0; j < columns; j += kStripColumns<T>)
        add_strip(memory.a + i * kDepth, memory.b + j * kDepth, part, memory.sums + i * kTile + j);
  }
}

}  // namespace svengine::ops::wide
