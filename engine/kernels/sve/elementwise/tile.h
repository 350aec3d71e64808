// Loops over tiles of two broadcast operands, and the walk that cuts a Broadcast into tiles.
//
// A tile is the two innermost dimensions, or a part of them: rows of columns. Within a row an operand is contiguous or one
// value; one of the two is contiguous, unless there is one column. Wide rows are done one by one. Rows of at most two vectors (a channel
// block of NCHWc, with a bias per channel) are done column by column, four rows at a time.
#pragma once
#include <cassert>

#include "engine/kernels/sve/elementwise/loop.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {

struct Tile {
  const void* a;
  const void* b;
  void* y;
  int64_t rows, columns;
  int64_t a_row, b_row, y_row;  // elements from row to row
  bool a_column, b_column;      // whether the columns are contiguous, else one value
};
using TileFunction = void (*)(const Tile& tile) noexcept;

template <class T>
struct Operands {
  const T* a;
  const T* b;
  int64_t a_row, b_row;
};

template <class T, auto F, class Out, bool kA, bool kB>
SVENGINE_INLINE void tile_wide(const Operands<T>& in, Out* y, int64_t y_row, int64_t rows, int64_t columns) {
  using V = Vec<T>;
  for (int64_t r = 0; r < rows; ++r) {
    const T *a = in.a + r * in.a_row, *b = in.b + r * in.b_row;
    Out* out = y + r * y_row;
    const V one_a = repeated<T>(*a), one_b = repeated<T>(*b);
    int64_t i = 0;
    for (; i + kUnroll * kLanesOf<T> <= columns; i += kUnroll * kLanesOf<T>) {
      V va[kUnroll], vz[kUnroll];
      SVENGINE_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        va[u] = kA ? V(svld1(every<T>(), a + i + u * kLanesOf<T>)) : one_a;
        vz[u] = kB ? V(svld1(every<T>(), b + i + u * kLanesOf<T>)) : one_b;
      }
      SVENGINE_UNROLL
      for (int u = 0; u < kUnroll; ++u) store(every<T>(), out + i + u * kLanesOf<T>, F(va[u], vz[u]));
    }
    for (; i < columns; i += kLanesOf<T>) {
      const vb p = lanes_below<T>(i, columns);
      const V va = kA ? V(svld1(p, a + i)) : one_a;
      const V vz = kB ? V(svld1(p, b + i)) : one_b;
      store(p, out + i, F(va, vz));
    }
  }
}

template <class T, auto F, class Out, bool kA, bool kB>
SVENGINE_INLINE void tile_narrow(const Operands<T>& in, Out* y, int64_t y_row, int64_t rows, int64_t columns) {
  using V = Vec<T>;
  for (int64_t i = 0; i < columns; i += kLanesOf<T>) {
    const vb p = lanes_below<T>(i, columns);
    const T *a = in.a + (kA ? i : 0), *b = in.b + (kB ? i : 0);
    Out* out = y + i;
    int64_t r = 0;
    for (; r + kUnroll <= rows; r += kUnroll) {
      V va[kUnroll], vz[kUnroll];
      SVENGINE_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        va[u] = kA ? V(svld1(p, a + u * in.a_row)) : repeated<T>(a[u * in.a_row]);
        vz[u] = kB ? V(svld1(p, b + u * in.b_row)) : repeated<T>(b[u * in.b_row]);
      }
      SVENGINE_UNROLL
      for (int u = 0; u < kUnroll; ++u) store(p, out + u * y_row, F(va[u], vz[u]));
      a += kUnroll * in.a_row, b += kUnroll * in.b_row, out += kUnroll * y_row;
    }
    for (; r < rows; ++r) {
      const V va = kA ? V(svld1(p, a)) : repeated<T>(*a);
      const V vz = kB ? V(svld1(p, b)) : repeated<T>(*b);
      store(p, out, F(va, vz));
      a += in.a_row, b += in.b_row, out += y_row;
    }
  }
}

/// y = F(a, b) over a tile; F takes vectors of T and gives one, or a predicate when Out is uint8_t.
template <class T, auto F, class Out, bool kA, bool kB>
[[gnu::flatten]] void tile_pattern(const Tile& t) noexcept {
  const Operands<T> in{static_cast<const T*>(t.a), static_cast<const T*>(t.b), t.a_row, t.b_row};
  Out* y = static_cast<Out*>(t.y);
  if constexpr (sizeof(Out) == sizeof(float)) {
    if (t.rows >= kUnroll && t.columns <= 2 * kLanesOf<T>) {
      tile_narrow<T, F, Out, kA, kB>(in, y, t.y_row, t.rows, t.columns);
      return;
    }
  }
  tile_wide<T, F, Out, kA, kB>(in, y, t.y_row, t.rows, t.columns);
}

template <class T, auto F, class Out = T>
void tile(const Tile& t) noexcept {
  assert(t.a_column || t.b_column || t.columns == 1);
  if (t.a_column && t.b_column) {
    tile_pattern<T, F, Out, true, true>(t);
  } else if (t.a_column) {
    tile_pattern<T, F, Out, true, false>(t);
  } else {
    tile_pattern<T, F, Out, false, true>(t);
  }
}

/// A null function for what is not there.
TileFunction find_binary_f32(BinaryOp op, bool relu) noexcept;
TileFunction find_binary_integer(BinaryOp op, DType type) noexcept;  // i32, i64, bool: vector code
TileFunction find_binary_plain(BinaryOp op, DType type) noexcept;    // the rest, loops for the compiler to vectorise

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
