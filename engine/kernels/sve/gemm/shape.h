// How a matrix product is cut into tiles, groups and blocks. Everything here depends on shapes and the machine's
// numbers only.
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/kernels/sve/even_partition.h"
#include "engine/kernels/sve/element.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int kPanelRows = kMachine.gemm_rows;
inline constexpr int kPanelVectors = kMachine.gemm_vectors;
template <class T>
inline constexpr int kPanelColumns = kPanelVectors * kLanesOf<T>;
template <class T>
inline constexpr int64_t kBytes = sizeof(T);

constexpr int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t larger(int64_t a, int64_t b) { return a < b ? b : a; }
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline constexpr int64_t kPanelStepBytes = kPanelColumns<float> * kBytes<float>;  // the same for every type
inline constexpr int64_t kDepthBlock = kMachine.gemm_block_bytes / kPanelStepBytes;
// The A panels of a group, one depth block deep, fill at most a third of the L2 cache.
template <class T>
inline constexpr int64_t kGroupPanels = smaller(larger(kMachine.l2_bytes / 3 / (kPanelRows * kDepthBlock * kBytes<T>), 2), 64);
// Partial sums of a group times this many B panels fill at most a sixth of it.
template <class T>
inline constexpr int64_t kColumnBlock = smaller(larger(kMachine.l2_bytes / 6 / (kGroupPanels<T> * kPanelRows * kPanelStepBytes), 1), 8);

// How far ahead of itself a single row panel reads B: it is a stream from memory then.
inline constexpr int64_t kStreamPrefetchBytes = 4096;

constexpr int64_t row_panels(int64_t m) { return ceil_div(m, kPanelRows); }
constexpr EvenPartition rows_of_panels(int64_t m) { return EvenPartition(m, row_panels(m)); }
template <class T>
constexpr int64_t column_panels(int64_t n) {
  return ceil_div(n, kPanelColumns<T>);
}

/// With one row panel nothing reuses a block of B from L1, so the depth is not cut.
constexpr int64_t depth_blocks(int64_t m, int64_t k) {
  return row_panels(m) > 1 ? larger(ceil_div(k, kDepthBlock), 1) : 1;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
