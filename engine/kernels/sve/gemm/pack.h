// Packing of operands into the panels described in gemm.h. A task is one piece of one panel, at most kGemmPackDepth deep.
//
// Where the source runs along the panel (depth-major) a step is a copy. Otherwise squares of a vector's lanes are transposed in registers.
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/kernels/sve/gemm/shape.h"
#include "engine/kernels/sve/square.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// AVX2, which has 16 registers and no masks in them, stores under a mask slowly (host/sve_avx2.h).
inline constexpr bool kWholeStores = kMachine.vector_registers == 16;

/// target[d * ld + x] = source[x * source_ld + d] for x < rows, d < steps. rows and steps are 1 ... a vector. Rows that
/// do not exist repeat the last one: selecting a pointer is cheaper than a branch around every load. With kWholeStores they
/// are stored, too, where that does not reach beyond the first `room` elements of the target. The next steps, and what is copied
/// afterwards to where the target begins, must overwrite them.
template <class T>
SVENGINE_INLINE void copy_turned_square(const T* source, int64_t source_ld, int64_t rows, int64_t steps, T* target,
                                        int64_t ld, int64_t room) {
  constexpr int kLanes = kLanesOf<T>;
  const vb exists = lanes_below<T>(0, steps);
  SquareOf<T> x;
  SVENGINE_UNROLL
  for (int i = 0; i < kLanes; ++i) {
    x.row[i] = svld1(exists, source);
    source += i + 1 < rows ? source_ld : 0;
  }
  x = transposed(x);
  const vb stores = lanes_below<T>(0, rows);
  if (kWholeStores && steps == kLanes && (kLanes - 1) * ld + kLanes <= room) {
    SVENGINE_UNROLL
    for (int i = 0; i < kLanes; ++i) svst1(every<T>(), target + i * ld, x.row[i]);
  } else if (steps == kLanes) {
    SVENGINE_UNROLL
    for (int i = 0; i < kLanes; ++i) svst1(stores, target + i * ld, x.row[i]);
  } else {
    SVENGINE_UNROLL
    for (int i = 0; i < kLanes; ++i)
      if (i < steps) svst1(stores, target + i * ld, x.row[i]);
  }
}

/// target[d * ld + x] = source[x * source_ld + d] for x < rows <= a vector, d < depth.
template <class T>
void copy_turned(const T* source, int64_t source_ld, int64_t rows, int64_t depth, T* target, int64_t ld) {
  constexpr int kLanes = kLanesOf<T>;
  for (int64_t d = 0; d < depth; d += kLanes)
    copy_turned_square(source + d, source_ld, rows, smaller(depth - d, kLanes), target + d * ld, ld, (depth - d - 1) * ld + rows);
}

/// target[d * ld + x] = source[d * source_ld + x] for x < columns <= a vector, d < depth.
template <class T>
void copy_straight(const T* source, int64_t source_ld, int64_t columns, int64_t depth, T* target, int64_t ld) {
  const vb exists = lanes_below<T>(0, columns);
  for (int64_t d = 0; d < depth; ++d) svst1(exists, target + d * ld, svld1(exists, source + d * source_ld));
}

/// The same, and sums[x] = the sum over d of source[d * source_ld + x].
template <class T>
void copy_and_sum(const T* source, int64_t source_ld, int64_t columns, int64_t depth, T* target, int64_t ld, T* sums) {
  constexpr int kChains = 4;  // FADD takes 9 cycles on A64FX
  const vb all = every<T>(), exists = lanes_below<T>(0, columns);
  Vec<T> sum[kChains];
  SVENGINE_UNROLL
  for (int u = 0; u < kChains; ++u) sum[u] = repeated<T>(0);
  for (int64_t d = 0; d < depth; d += kChains) {
    SVENGINE_UNROLL
    for (int u = 0; u < kChains; ++u) {
      if (d + u >= depth) break;
      const Vec<T> v = svld1(exists, source + (d + u) * source_ld);
      svst1(exists, target + (d + u) * ld, v);
      sum[u] = svadd_x(all, sum[u], v);
    }
  }
  svst1(exists, sums, svadd_x(all, svadd_x(all, sum[0], sum[1]), svadd_x(all, sum[2], sum[3])));
}

/// target[d * ld + x] = 0 for x < columns <= a vector, d < depth.
template <class T>
void fill_zero(int64_t columns, int64_t depth, T* target, int64_t ld) {
  const vb stores = lanes_below<T>(0, columns);
  for (int64_t d = 0; d < depth; ++d) svst1(stores, target + d * ld, repeated<T>(0));
}

/// A piece of one panel: `width` rows or columns of the source from `first` on, padded with zeros to `stored` >= width.
template <class T>
void pack_piece(const GemmPackArgsOf<T>& args, const T* source, int64_t first, int64_t width, int64_t stored, int64_t depth_begin,
                int64_t depth_end, T* panel) {
  constexpr int kLanes = kLanesOf<T>;
  T* target = panel + depth_begin * stored;
  const int64_t depth = depth_end - depth_begin;
  for (int64_t x = (width - 1) / kLanes * kLanes; x >= 0; x -= kLanes) {  // the last first: see copy_turned_square
    const int64_t lanes = smaller(width - x, kLanes);
    if (args.depth_major && args.sums) {
      T* sums = args.sums + depth_begin / kGemmPackDepth * args.extent + first + x;
      copy_and_sum(source + depth_begin * args.ld + first + x, args.ld, lanes, depth, target + x, stored, sums);
    } else if (args.depth_major) {
      copy_straight(source + depth_begin * args.ld + first + x, args.ld, lanes, depth, target + x, stored);
    } else {
      copy_turned(source + (first + x) * args.ld + depth_begin, args.ld, lanes, depth, target + x, stored);
    }
  }
  for (int64_t x = width; x < stored; x += kLanes) fill_zero(smaller(stored - x, kLanes), depth, target + x, stored);
}

inline int64_t depth_pieces(int64_t depth) { return ceil_div(depth, kGemmPackDepth); }

template <class T>
struct Piece {
  const T* source;
  T* packed;
  int64_t panel, depth_begin, depth_end;
};

/// Tasks are numbered batch, panel, depth where the source runs along the depth, and batch, depth, panel otherwise.
template <class T>
Piece<T> piece_of(const GemmPackArgsOf<T>& args, int64_t panels, int64_t task) {
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

template <class T>
int64_t pack_tasks(const GemmPackArgsOf<T>& args, int64_t panels) {
  return args.batch.outer * args.batch.inner * panels * depth_pieces(args.depth);
}

inline constexpr int64_t kAlignment = 256;

template <class T>
int64_t packed_a_bytes(int64_t m, int64_t k) noexcept { return ceil_div(m * k * kBytes<T>, kAlignment) * kAlignment; }

template <class T>
int64_t packed_b_bytes(int64_t k, int64_t n) noexcept {
  return ceil_div(column_panels<T>(n) * kPanelColumns<T> * k * kBytes<T>, kAlignment) * kAlignment;
}

template <class T>
int64_t pack_a_tasks(const GemmPackArgsOf<T>& args) noexcept { return pack_tasks(args, row_panels(args.extent)); }

template <class T>
void pack_a(const GemmPackArgsOf<T>& args, int64_t task_begin, int64_t task_end) noexcept {
  const int64_t panels = row_panels(args.extent);
  const EvenPartition partition(args.extent, panels);
  for (int64_t task = task_begin; task < task_end; ++task) {
    const Piece<T> piece = piece_of(args, panels, task);
    const int64_t first = partition.begin(piece.panel);
    const int64_t rows = partition.size(piece.panel);
    pack_piece(args, piece.source, first, rows, rows, piece.depth_begin, piece.depth_end,
               piece.packed + first * args.depth);
  }
}

template <class T>
int64_t pack_b_tasks(const GemmPackArgsOf<T>& args) noexcept { return pack_tasks(args, column_panels<T>(args.extent)); }

template <class T>
void pack_b(const GemmPackArgsOf<T>& args, int64_t task_begin, int64_t task_end) noexcept {
  const int64_t panels = column_panels<T>(args.extent);
  for (int64_t task = task_begin; task < task_end; ++task) {
    const Piece<T> piece = piece_of(args, panels, task);
    const int64_t first = piece.panel * kPanelColumns<T>;
    const int64_t columns = smaller(args.extent - first, kPanelColumns<T>);
    pack_piece(args, piece.source, first, columns, kPanelColumns<T>, piece.depth_begin, piece.depth_end,
               piece.packed + first * args.depth);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
