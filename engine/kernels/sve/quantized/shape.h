// How an integer product is cut into tiles, panels and groups, from shapes and the machine's numbers alone.
//
//   packed B: one panel after the other: [ceil(k / 4)][kColumns][4] int8, then int32 [kColumns] sums of (B - b_zero) over k, then
//   int32 [kColumns] b_zero, both of the shifted bytes. Columns beyond n and depth beyond k are zero.
#pragma once
#include "engine/kernels/quantized.h"
#include "engine/kernels/sve/even_partition.h"
#include "engine/kernels/sve/quantized/dot.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

// 12 x 2 sums, two vectors of B and a broadcast fit 32 registers, with those that split operands where there is no instruction for
// four products; of 16 registers 4 x 2 do. SDOT has the latency of FMLA on A64FX (9 cycles, two pipes), so 24 sums keep it busy, too.
inline constexpr int kQuantRows = kMachine.vector_registers == 32 ? 12 : 4;
inline constexpr int kQuantVectors = 2;
inline constexpr int64_t kQuantColumns = int64_t{kQuantVectors} * kLanes;

constexpr int64_t quant_smaller(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t quant_larger(int64_t a, int64_t b) { return a < b ? b : a; }
constexpr int64_t quant_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Four bytes deep.
constexpr int64_t depth_groups(int64_t k) { return quant_ceil_div(k, 4); }
/// Bytes of a row of A that lie together in a panel, and groups of four of them.
inline constexpr int64_t kChunkBytes = 64, kChunkGroups = kChunkBytes / 4;
static_assert(kChunkBytes % kVectorBytes == 0);
constexpr int64_t chunks(int64_t k) { return quant_ceil_div(k, kChunkBytes); }
constexpr int64_t panel_bytes(int64_t k) { return (depth_groups(k) + 2) * kQuantColumns * 4; }
constexpr int64_t quant_row_panels(int64_t m) { return quant_ceil_div(m, kQuantRows); }
constexpr int64_t quant_column_panels(int64_t n) { return quant_ceil_div(n, kQuantColumns); }

/// Row panels of A that are packed together and go over each panel of B while that is in L1: a third of L2, and 8 at most.
constexpr int64_t group_panels(int64_t k) {
  const int64_t bytes = quant_larger(chunks(k), 1) * kChunkBytes * kQuantRows;
  return quant_larger(quant_smaller(kMachine.l2_bytes / 3 / bytes, 8), 1);
}
constexpr EvenPartition row_groups(int64_t m, int64_t k) {
  const int64_t panels = quant_row_panels(m);
  return EvenPartition(panels, quant_ceil_div(panels, group_panels(k)));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
