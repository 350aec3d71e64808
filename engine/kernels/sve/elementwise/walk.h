// How a Broadcast is cut into tasks, and a task into tiles of the two innermost dimensions.
//
//   columns = size of the innermost dimension, rows = product of the others
//   columns < kElementwiseTask: a task is several whole rows; otherwise it is a piece of one row
#pragma once
#include "engine/kernels/elementwise.h"
#include "engine/kernels/sve/math/base.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {

SVENGINE_INLINE int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
SVENGINE_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

SVENGINE_INLINE int64_t element_bytes(DType type) {
  switch (type) {
    case DType::u8:
    case DType::i8:
    case DType::boolean: return 1;
    case DType::u16:
    case DType::i16:
    case DType::f16:
    case DType::bf16: return 2;
    case DType::f32:
    case DType::i32:
    case DType::u32: return 4;
    default: return 8;
  }
}

struct BroadcastPartition {
  int64_t rows = 1, columns;
  int64_t rows_per_task = 1, pieces = 1;  // one of them is 1

  explicit BroadcastPartition(const Broadcast& b) : columns(b.size[b.rank - 1]) {
    for (int d = 0; d < b.rank - 1; ++d) rows *= b.size[d];
    if (rows == 0 || columns == 0) {
      rows = 0;
    } else if (columns >= kElementwiseTask) {
      pieces = divide_up(columns, kElementwiseTask);
    } else {
      rows_per_task = kElementwiseTask / columns;
    }
  }
  int64_t tasks() const { return divide_up(rows, rows_per_task) * pieces; }
};

/// Calls visit(const int64_t offset[3], y_offset, rows, columns) for every tile of the tasks [begin, end). Within a tile the
/// row strides are row_stride(broadcast, k); y's rows are partition.columns apart.
template <class Visit>
SVENGINE_INLINE void for_each_tile(const Broadcast& b, const BroadcastPartition& partition, int64_t begin, int64_t end, Visit visit) {
  const int64_t middle = b.rank > 1 ? b.size[b.rank - 2] : 1;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t piece = task % partition.pieces * kElementwiseTask;
    const int64_t columns = partition.pieces > 1 ? smaller(kElementwiseTask, partition.columns - piece) : partition.columns;
    int64_t row = task / partition.pieces * partition.rows_per_task;
    const int64_t last = smaller(row + partition.rows_per_task, partition.rows);
    while (row < last) {
      const int64_t rows = smaller(last - row, middle - row % middle);
      int64_t offset[3];
      for (int k = 0; k < 3; ++k) offset[k] = piece * b.stride[k][b.rank - 1];
      int64_t index = row;
      for (int d = b.rank - 2; d >= 0; --d) {
        for (int k = 0; k < 3; ++k) offset[k] += index % b.size[d] * b.stride[k][d];
        index /= b.size[d];
      }
      visit(offset, row * partition.columns + piece, rows, columns);
      row += rows;
    }
  }
}

SVENGINE_INLINE int64_t row_stride(const Broadcast& b, int operand) { return b.rank > 1 ? b.stride[operand][b.rank - 2] : 0; }

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
