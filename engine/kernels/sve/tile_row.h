// A row of a tile of sums: a broadcast value times the vectors of a panel.
//
//                 panel   b0   b1                     a load and a multiply-add with it in every vector, or
//     x, broadcast   ->  acc  acc                     multiply-adds whose operand is broadcast from memory (AVX-512)
//
// An operand from memory saves the instruction that loads it, but is read once for every vector. AVX-512 machines start two
// multiply-adds and two loads a cycle, so every second row of a tile does so: 12 x 2 sums are 35 instructions a step instead of 41.
// That is worth nothing while a core has one thread (135 of 136 GFLOP/s either way), and a ninth where its other thread is busy,
// as on shared machines: 105 to 118 GFLOP/s (a Sapphire Rapids, medians of 40 alternating runs, data in L1 and L2).
#pragma once
#include "engine/kernels/sve/element.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// sums += panel * x[0], of row `row` of a tile.
template <class T, int kVectors>
SVENGINE_INLINE void add_row(int row, const T* x, const Vec<T> (&panel)[kVectors], Vec<T> (&sums)[kVectors]) {
  const vb all = every<T>();
  if constexpr (kMachine.broadcast_operand && sizeof(T) == sizeof(float)) {
    if (row % 2 == 1) {
      SVENGINE_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[v] = svmla_n_f32_x(all, sums[v], panel[v], *x);
      return;
    }
  }
  const Vec<T> value = repeated<T>(*x);
  SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v) sums[v] = svmla_x(all, sums[v], panel[v], value);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
