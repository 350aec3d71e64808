// R h for a panel of units and a few rows: products[row][gate][lanes] = sum over k of h[row][k] * w[k][gate][lanes].
//
// With few rows and gates there would be fewer sums than the multiply-add pipes have slots, so k is cut into interleaved sums, added
// at the end in order. One row reads w as a stream from the L2 cache, a multiply-add a vector; rows share it.
#pragma once
#include "engine/kernels/sve/math/base.h"
#include "engine/kernels/sve/tile_row.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::recurrent {

/// Rows of a tile at most, so that sums, a step of w and a broadcast fit the registers.
constexpr int rows_of_tile(int gates) {
  const int rows = kMachine.vector_registers * 3 / 4 / gates;
  return rows < 8 ? rows : 8;
}

constexpr int product_ways(int rows, int gates) {
  const int by_registers = kMachine.vector_registers * 3 / 4 / (rows * gates);
  const int by_instructions = 42 / (gates + rows + rows * gates);
  const int ways = by_registers < by_instructions ? by_registers : by_instructions;
  return ways < 1 ? 1 : ways > 8 ? 8 : ways;
}

template <class T, int kRows, int kGates>
struct ProductSums {
  Vec<T> at[kRows][kGates];
};

template <class T, int kRows, int kGates>
SVENGINE_INLINE void product_step(const T* h, int64_t ld, const T* w, ProductSums<T, kRows, kGates>& sums) {
  Vec<T> row[kGates];
  SVENGINE_UNROLL
  for (int g = 0; g < kGates; ++g) row[g] = svld1(every<T>(), w + g * kLanesOf<T>);
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) add_row(r, h + r * ld, row, sums.at[r]);
}

template <class T, int kRows, int kGates>
[[gnu::noinline]] void multiply_rows(int64_t depth, const T* h, int64_t ld, const T* w, T* products) {
  constexpr int kWays = product_ways(kRows, kGates);
  const vb all = every<T>();
  ProductSums<T, kRows, kGates> sums[kWays];
  SVENGINE_UNROLL
  for (int u = 0; u < kWays; ++u) SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int g = 0; g < kGates; ++g) sums[u].at[r][g] = repeated<T>(0);
  int64_t left = depth;
  for (; left >= kWays; left -= kWays, h += kWays, w += kWays * kGates * kLanesOf<T>) {
    SVENGINE_UNROLL
    for (int u = 0; u < kWays; ++u) product_step<T, kRows, kGates>(h + u, ld, w + u * kGates * kLanesOf<T>, sums[u]);
  }
  SVENGINE_UNROLL
  for (int u = 1; u < kWays; ++u) SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int g = 0; g < kGates; ++g) sums[0].at[r][g] = vadd(sums[0].at[r][g], sums[u].at[r][g]);
  for (; left > 0; --left, ++h, w += kGates * kLanesOf<T>) product_step<T, kRows, kGates>(h, ld, w, sums[0]);
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int g = 0; g < kGates; ++g) svst1(all, products + (r * kGates + g) * kLanesOf<T>, sums[0].at[r][g]);
}

template <int kGates, class T, int kRows = rows_of_tile(kGates)>
inline void multiply(int64_t rows, int64_t depth, const T* h, int64_t ld, const T* w, T* products) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return multiply<kGates, T, kRows - 1>(rows, depth, h, ld, w, products);
  }
  multiply_rows<T, kRows, kGates>(depth, h, ld, w, products);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::recurrent
