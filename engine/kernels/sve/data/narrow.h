// Transposition between lines of a few elements, which lie one behind the other, and a few long ones: the channels of a pixel, and images of one
// channel each.
//
//   a0 a1 a2 a3 ...  <->  a0 b0 c0  a1 b1 c1  a2 b2 c2 ...          kRows = 4, of which `n` = 3 exist
//   b0 b1 b2 b3 ...
//   c0 c1 c2 c3 ...
//
// log2(kRows) rounds of ZIPs make columns of kRows elements of that many vectors, UZPs the other way round (tile.h). Where fewer rows
// exist, TBL takes the gaps out of the columns, or puts them in.
#pragma once
#include "engine/kernels/sve/data/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int64_t kMostNarrow = 8;

/// Registers for lines of n elements: a power of two that is not below n. For bytes there is one size.
inline int64_t narrow_rows(int64_t n, int64_t bytes) { return n <= 2 && bytes > 1 ? 2 : n <= 4 ? 4 : kMostNarrow; }

/// Can lines of n elements of so many bytes be that? Eight only of 4 bytes, for the library's sake: single bytes would be another 13 KB on
/// AVX2, which has no masked stores of them.
inline bool is_narrow(int64_t n, int64_t bytes, bool joined) {
  const bool made = bytes == 4 || (n <= 4 && (bytes == 1 || (bytes == 8 && joined)));
  return made && n >= 2 && n <= kMostNarrow && narrow_rows(n, bytes) <= (bytes == 8 ? kLanes / 2 : kLanes);
}

/// Lane `column * to + row` for the place `column * from + row`, in order of places. Where there is no such row, any lane.
template <class T>
struct NarrowIndex {
  typename SquareTile<T>::Lane at[SquareTile<T>::kSize] = {};

  NarrowIndex(int64_t from, int64_t to) {
    int64_t column = 0, row = 0;
    for (auto& lane : at) {
      lane = typename SquareTile<T>::Lane(column * to + row);
      if (++row == from) row = 0, ++column;
    }
  }
};

/// dst[i * dst_line + j * dst_step] = src[i * src_line + j * src_step] for i < n, first <= j < m: what is left behind whole vectors.
template <class T>
[[gnu::noinline]] void copy_rest(T* dst, int64_t dst_line, int64_t dst_step, const T* src, int64_t src_line, int64_t src_step, int64_t n,
                                 int64_t first, int64_t m) {
  for (int64_t j = first; j < m; ++j)
    for (int64_t i = 0; i < n; ++i) dst[i * dst_line + j * dst_step] = src[i * src_line + j * src_step];
}

/// dst[j * n + i] = src[i * stride + j] for i < n, j < m; `gaps` is of (n, kRows).
template <int kRows, class T>
void join_lines(const NarrowIndex<T>& gaps, T* dst, const T* src, int64_t stride, int64_t n, int64_t m) {
  using Tile = SquareTile<T>;
  constexpr int kSize = Tile::kSize, kColumns = kSize / kRows;
  const auto index = svld1(Tile::all(), gaps.at);
  const vb whole = Tile::lanes(kColumns * n);
  int64_t j = 0;
  for (; j + kSize <= m; j += kSize) {
    typename Tile::V v[kRows];
    SVENGINE_UNROLL
    for (int i = 0; i < kRows; ++i) v[i] = i < n ? typename Tile::V(load_lanes(Tile::all(), src + i * stride + j)) : Tile::zero();
    transpose_registers(v);
    SVENGINE_UNROLL
    for (int k = 0; k < kRows; ++k) {
      if (n < kRows) v[k] = svtbl(v[k], index);
      store_lanes(whole, dst + (j + k * kColumns) * n, v[k]);
    }
  }
  copy_rest(dst, 1, n, src, stride, 1, n, j, m);
}

/// dst[i * stride + j] = src[j * n + i] for i < n, j < m; `gaps` is of (kRows, n).
template <int kRows, class T>
void split_lines(const NarrowIndex<T>& gaps, T* dst, int64_t stride, const T* src, int64_t n, int64_t m) {
  using Tile = SquareTile<T>;
  constexpr int kSize = Tile::kSize, kColumns = kSize / kRows;
  const auto index = svld1(Tile::all(), gaps.at);
  const vb whole = Tile::lanes(kColumns * n);
  int64_t j = 0;
  for (; j + kSize <= m; j += kSize) {
    typename Tile::V v[kRows];
    SVENGINE_UNROLL
    for (int k = 0; k < kRows; ++k) {
      v[k] = load_lanes(whole, src + (j + k * kColumns) * n);
      if (n < kRows) v[k] = svtbl(v[k], index);
    }
    untranspose_registers(v);
    SVENGINE_UNROLL
    for (int i = 0; i < kRows; ++i)
      if (i < n) store_lanes(Tile::all(), dst + i * stride + j, v[i]);
  }
  copy_rest(dst, stride, 1, src, 1, n, n, j, m);
}

/// Calls body.template operator()<kRows>() for lines of n elements of type T.
template <class T, class Body>
SVENGINE_INLINE void dispatch_narrow(int64_t n, const Body& body) {
  if constexpr (sizeof(T) > 1) {
    if (n <= 2) return body.template operator()<2>();
  }
  if constexpr (SquareTile<T>::kSize >= 4) {
    if (n <= 4) return body.template operator()<4>();
  }
  if constexpr (sizeof(T) == 4 && SquareTile<T>::kSize >= 8) return body.template operator()<8>();
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
