// Packing: a task is one piece of one panel, at most kGemmPackDepth deep.
//
// Where the source runs along the panel (depth-major) a step is a copy. Otherwise squares of kLanes x kLanes are transposed in registers.
#include "engine/kernels/sve/gemm/pack.h"

#include "engine/kernels/sve/gemm/shape.h"
#include "engine/kernels/sve/square.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

/// target[d * ld + x] = source[x * source_ld + d] for x < rows, d < steps. rows and steps are 1 ... kLanes. Rows that
/// do not exist repeat the last one and are not stored: selecting a pointer is cheaper than a branch around every load.
inline __attribute__((always_inline)) void copy_turned_square(const float* source, int64_t source_ld, int64_t rows,
                                                              int64_t steps, float* target, int64_t ld) {
  const vb exists = svwhilelt_b32(int64_t{0}, steps);
  const vb stores = svwhilelt_b32(int64_t{0}, rows);
  Square x;
  SVENGINE_UNROLL
  for (int i = 0; i < kLanes; ++i) {
    x.row[i] = svld1(exists, source);
    source += i + 1 < rows ? source_ld : 0;
  }
  x = transposed(x);
  if (steps == kLanes) {
    SVENGINE_UNROLL
    for (int i = 0; i < kLanes; ++i) svst1(stores, target + i * ld, x.row[i]);
  } else {
    SVENGINE_UNROLL
    for (int i = 0; i < kLanes; ++i)
      if (i < steps) svst1(stores, target + i * ld, x.row[i]);
  }
}

/// target[d * ld + x] = source[x * source_ld + d] for x < rows <= kLanes, d < depth.
inline void copy_turned(const float* source, int64_t source_ld, int64_t rows, int64_t depth, float* target,
                        int64_t ld) {
  for (int64_t d = 0; d < depth; d += kLanes)
    copy_turned_square(source + d, source_ld, rows, smaller(depth - d, kLanes), target + d * ld, ld);
}

/// target[d * ld + x] = source[d * source_ld + x] for x < columns <= kLanes, d < depth.
inline void copy_straight(const float* source, int64_t source_ld, int64_t columns, int64_t depth, float* target,
                          int64_t ld) {
  const vb exists = svwhilelt_b32(int64_t{0}, columns);
  for (int64_t d = 0; d < depth; ++d) svst1(exists, target + d * ld, svld1(exists, source + d * source_ld));
}

/// The same, and sums[x] = the sum over d of source[d * source_ld + x].
inline void copy_and_sum(const float* source, int64_t source_ld, int64_t columns, int64_t depth, float* target, int64_t ld,
                         float* sums) {
  constexpr int kChains = 4;  // FADD takes 9 cycles on A64FX
  const vb all = svptrue_b32(), exists = svwhilelt_b32(int64_t{0}, columns);
  vf sum[kChains];
  SVENGINE_UNROLL
  for (int u = 0; u < kChains; ++u) sum[u] = svdup_f32(0.0f);
  for (int64_t d = 0; d < depth; d += kChains) {
    SVENGINE_UNROLL
    for (int u = 0; u < kChains; ++u) {
      if (d + u >= depth) break;
      const vf v = svld1(exists, source + (d + u) * source_ld);
      svst1(exists, target + (d + u) * ld, v);
      sum[u] = svadd_x(all, sum[u], v);
    }
  }
  svst1(exists, sums, svadd_x(all, svadd_x(all, sum[0], sum[1]), svadd_x(all, sum[2], sum[3])));
}

/// target[d * ld + x] = 0 for x < columns <= kLanes, d < depth.
inline void fill_zero(int64_t columns, int64_t depth, float* target, int64_t ld) {
  const vb stores = svwhilelt_b32(int64_t{0}, columns);
  for (int64_t d = 0; d < depth; ++d) svst1(stores, target + d * ld, svdup_f32(0.0f));
}

/// A piece of one panel: `width` rows or columns of the source from `first` on, padded with zeros to `stored` >= width.
void pack_piece(const GemmPackArgs& args, const float* source, int64_t first, int64_t width, int64_t stored,
                int64_t depth_begin, int64_t depth_end, float* panel) {
  float* target = panel + depth_begin * stored;
  const int64_t depth = depth_end - depth_begin;
  for (int64_t x = 0; x < width; x += kLanes) {
    const int64_t lanes = smaller(width - x, kLanes);
    if (args.depth_major && args.sums) {
      float* sums = args.sums + depth_begin / kGemmPackDepth * args.extent + first + x;
      copy_and_sum(source + depth_begin * args.ld + first + x, args.ld, lanes, depth, target + x, stored, sums);
    } else if (args.depth_major) {
      copy_straight(source + depth_begin * args.ld + first + x, args.ld, lanes, depth, target + x, stored);
    } else {
      copy_turned(source + (first + x) * args.ld + depth_begin, args.ld, lanes, depth, target + x, stored);
    }
  }
  for (int64_t x = width; x < stored; x += kLanes) fill_zero(smaller(stored - x, kLanes), depth, target + x, stored);
}

int64_t depth_pieces(int64_t depth) { return ceil_div(depth, kGemmPackDepth); }

struct Piece {
  const float* source;
  float* packed;
  int64_t panel, depth_begin, depth_end;
};

/// Tasks are numbered batch, panel, depth where the source runs along the depth, and batch, depth, panel otherwise.
Piece piece_of(const GemmPackArgs& args, int64_t panels, int64_t task) {
  const int64_t pieces = depth_pieces(args.depth);
  const int64_t index = task / (panels * pieces);
  const int64_t rest = task % (panels * pieces);
  const int64_t outer = index / args.batch.inner;
  const int64_t inner = index % args.batch.inner;
  const int64_t panel = args.depth_major ? rest % panels : rest / pieces;
  const int64_t begin = (args.depth_major ? rest / panels : rest % pieces) * kGemmPackDepth;
  return {args.source + outer * args.source_stride.outer + inner * args.source_stride.inner,
          args.packed + outer * args.packed_stride.outer + inner * args.packed_stride.inner, panel, begin,
          smaller(begin + kGemmPackDepth, args.depth)};
}

int64_t pack_tasks(const GemmPackArgs& args, int64_t panels) {
  return args.batch.outer * args.batch.inner * panels * depth_pieces(args.depth);
}

constexpr int64_t kAlignment = 256;

}  // namespace

int64_t packed_a_bytes(int64_t m, int64_t k) noexcept { return ceil_div(m * k * kFloat, kAlignment) * kAlignment; }

int64_t packed_b_bytes(int64_t k, int64_t n) noexcept {
  return ceil_div(column_panels(n) * kPanelColumns * k * kFloat, kAlignment) * kAlignment;
}

int64_t pack_a_tasks(const GemmPackArgs& args) noexcept { return pack_tasks(args, row_panels(args.extent)); }

void pack_a(const GemmPackArgs& args, int64_t task_begin, int64_t task_end) noexcept {
  const int64_t panels = row_panels(args.extent);
  const EvenPartition partition(args.extent, panels);
  for (int64_t task = task_begin; task < task_end; ++task) {
    const Piece piece = piece_of(args, panels, task);
    const int64_t first = partition.begin(piece.panel);
    const int64_t rows = partition.size(piece.panel);
    pack_piece(args, piece.source, first, rows, rows, piece.depth_begin, piece.depth_end,
               piece.packed + first * args.depth);
  }
}

int64_t pack_b_tasks(const GemmPackArgs& args) noexcept { return pack_tasks(args, column_panels(args.extent)); }

void pack_b(const GemmPackArgs& args, int64_t task_begin, int64_t task_end) noexcept {
  const int64_t panels = column_panels(args.extent);
  for (int64_t task = task_begin; task < task_end; ++task) {
    const Piece piece = piece_of(args, panels, task);
    const int64_t first = piece.panel * kPanelColumns;
    const int64_t columns = smaller(args.extent - first, kPanelColumns);
    pack_piece(args, piece.source, first, columns, kPanelColumns, piece.depth_begin, piece.depth_end,
               piece.packed + first * args.depth);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
