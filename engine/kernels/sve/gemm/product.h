// Matrix products of packed operands: from ranges of tasks to tiles.
//
// A task is one tile (a row panel times a column panel). Tasks are numbered so that a contiguous range is a compact
// piece of C: batch, then groups of row panels (as many as the L2 cache holds), then column panels, then the row panels
// of the group. A range is cut into rectangles again, and a rectangle is worked through depth block by depth block, so
// that the block of a B panel is read from L1 by all row panels of the group:
//
//     group of row panels      j0   j1                     for each depth block
//          i0  +--+ . . . . . +----+----+                    for each column panel j (its block of B goes to L1)
//              |  |           |    |    |                      for each row panel i: tile(i, j)
//          i1  +--+           +----+----+
//
// How a range is cut never changes the arithmetic of a tile.
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/gemm/activate.h"
#include "engine/kernels/sve/gemm/pack.h"
#include "engine/kernels/sve/gemm/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

struct Rectangle {  // of tiles: row panels [row_begin, row_end) and column panels [column_begin, column_end)
  int64_t row_begin, row_end, column_begin, column_end;
};

template <class T>
struct Matrices {  // of one batch index
  const T* a;
  const T* b;
  T* c;
  const T* bias;
  const T* residual;
};

inline int64_t at(const GemmStride& stride, const GemmBatch& batch, int64_t index) {
  return index / batch.inner * stride.outer + index % batch.inner * stride.inner;
}

template <class T>
Matrices<T> matrices_of(const GemmArgsOf<T>& args, int64_t index) {
  Matrices<T> x;
  x.a = args.a + at(args.a_stride, args.batch, index);
  x.b = args.b + at(args.b_stride, args.batch, index);
  x.c = args.c + at(args.c_stride, args.batch, index);
  x.bias = args.bias_kind == GemmBias::kNone ? nullptr : args.bias + at(args.bias_stride, args.batch, index);
  x.residual = args.residual ? args.residual + at(args.residual_stride, args.batch, index) : nullptr;
  return x;
}

template <class T>
void finish_tile(const GemmArgsOf<T>& args, const Tile<T>& tile, int64_t rows) {
  if (activates_in_registers(args.activation.kind)) return;
  activate_block(args.activation, tile.c, args.ldc, rows, tile.columns);
}

/// What of B is multiplied after column panel j and depth block `block` of a rectangle: the next panel, else the first one of
/// the next block, else what follows the rectangle.
template <class T>
const char* next_of_b(const GemmArgsOf<T>& args, const T* b, const Rectangle& area, const EvenPartition& depths, int64_t block,
                      int64_t blocks, int64_t j) {
  int64_t column = j + 1;
  if (column == area.column_end) {
    if (block + 1 < blocks) column = area.column_begin;
    block = block + 1 < blocks ? block + 1 : 0;
  }
  if (column == column_panels<T>(args.n)) column = 0;  // the next group of rows starts again
  return reinterpret_cast<const char*>(b + (column * args.k + depths.begin(block)) * kPanelColumns<T>);
}

template <class T>
void run_rectangle(const GemmArgsOf<T>& args, const Matrices<T>& x, const Rectangle& area, T* partials) {
  const EvenPartition panels = rows_of_panels(args.m);
  const int64_t blocks = depth_blocks(args.m, args.k);
  const EvenPartition depths(args.k, blocks);
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t depth = depths.begin(block);
    Tile<T> tile;
    tile.depth = depths.size(block);
    T* sums = partials;
    for (int64_t j = area.column_begin; j < area.column_end; ++j) {
      const int64_t column = j * kPanelColumns<T>;
      tile.b = x.b + column * args.k + depth * kPanelColumns<T>;
      tile.columns = smaller(args.n - column, kPanelColumns<T>);
      // The row panels share the fetching of the next block. A single one goes too long over its own for that.
      const int64_t height = area.row_end - area.row_begin;
      const char* next_b = height > 1 ? next_of_b(args, x.b, area, depths, block, blocks, j)
                                      : reinterpret_cast<const char*>(tile.b) + kStreamPrefetchBytes;
      tile.prefetch.b_step = ceil_div(kPanelColumns<T> * kBytes<T>, height);
      for (int64_t i = area.row_begin; i < area.row_end; ++i, sums += kPanelRows * kPanelColumns<T>) {
        const int64_t row = panels.begin(i);
        const int64_t rows = panels.size(i);
        tile.a = x.a + row * args.k + depth * rows;
        tile.prefetch.a = i + 1 < area.row_end ? rows * args.k * kBytes<T> : 0;
        tile.prefetch.b = next_b + (i - area.row_begin) * tile.depth * tile.prefetch.b_step;
        tile.seed = block > 0 ? sums : nullptr;
        tile.partial = block + 1 < blocks ? sums : nullptr;
        tile.c = x.c + row * args.ldc + column;
        tile.bias = x.bias;
        if (args.bias_kind == GemmBias::kColumn) tile.bias += column;
        if (args.bias_kind == GemmBias::kRow) tile.bias += row;
        tile.residual = x.residual ? x.residual + row * args.ld_residual + column : nullptr;
        run_tile(rows, args, tile);
        if (!tile.partial) finish_tile(args, tile, rows);
      }
    }
  }
}

/// The largest rectangle that starts at tile `begin` of a matrix and holds only tiles before `end`.
template <class T>
Rectangle rectangle_at(const GemmArgsOf<T>& args, int64_t begin, int64_t end) {
  const int64_t panels = row_panels(args.m);
  const int64_t columns = column_panels<T>(args.n);
  const EvenPartition groups(panels, ceil_div(panels, kGroupPanels<T>));
  const int64_t group = groups.part_holding(begin / columns);
  const int64_t first = groups.begin(group);
  const int64_t height = groups.size(group);
  const int64_t from = begin - first * columns;
  const int64_t until = smaller(end - first * columns, height * columns);
  const int64_t j = from / height;
  const int64_t i = from % height;
  const int64_t whole_columns = until / height - j;
  if (i == 0 && whole_columns > 0) return {first, first + height, j, j + smaller(whole_columns, kColumnBlock<T>)};
  return {first + i, first + smaller(height, until - j * height), j, j + 1};
}

template <class T>
int64_t matrix_tasks(const GemmArgsOf<T>& args) { return row_panels(args.m) * column_panels<T>(args.n); }

template <class T>
int64_t gemm_tasks(const GemmArgsOf<T>& args) noexcept { return args.batch.outer * args.batch.inner * matrix_tasks(args); }

template <class T>
int64_t gemm_scratch_bytes(const GemmArgsOf<T>& args) noexcept {
  if (depth_blocks(args.m, args.k) == 1) return 0;
  const int64_t tiles = smaller(row_panels(args.m), kGroupPanels<T>) * smaller(column_panels<T>(args.n), kColumnBlock<T>);
  return tiles * kPanelRows * kPanelColumns<T> * kBytes<T>;
}

template <class T>
void gemm(const GemmArgsOf<T>& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept {
  const int64_t per_matrix = matrix_tasks(args);
  for (int64_t task = task_begin; task < task_end;) {
    const int64_t index = task / per_matrix;
    const int64_t begin = task - index * per_matrix;
    const int64_t end = smaller(task_end - index * per_matrix, per_matrix);
    const Rectangle area = rectangle_at(args, begin, end);
    run_rectangle(args, matrices_of(args, index), area, static_cast<T*>(scratch));
    task += (area.row_end - area.row_begin) * (area.column_end - area.column_begin);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
