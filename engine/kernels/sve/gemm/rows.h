// Products of few rows by a B that is read where it lies: packing would read all of it once more, to multiply each number of it by a few.
//
// Sums of a strip of columns are made in registers and go into the scratch as the tile's first sums, from which tile.h's epilogue goes
// on with nothing left to multiply. The depth is cut where B does not fit the L2 cache: neighbouring strips go over a block of it one after
// the other, so that B is read in long rows (1 x 1024 x 4096: 547 us instead of 744, a Sapphire Rapids).
//
//     B by rows, [k][n]      a strip is so many vectors wide that its sums fill the registers, the last ones of a row a panel
//     B by columns, [n][k]   a strip is a panel; sums run along the depth in vectors, eight columns at a time, and a tree of
//                            interleavings adds up their lanes, three instructions a sum where FADDV would take dozens of cycles
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/kernels/sve/gemm/product.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int kRowSums = kMachine.vector_registers * 3 / 4;  // vectors of sums

/// Vectors of a wide strip of `rows` rows: whole panels.
constexpr int strip_vectors(int rows) {
  const int most = rows == 1 ? kRowSums * 5 / 12 : kRowSums / rows;
  return most / kPanelVectors > 1 ? most / kPanelVectors * kPanelVectors : kPanelVectors;
}

/// Steps of depth side by side, as depth_ways(), with an address for each.
constexpr int strip_ways(int rows, int vectors) {
  const int by_registers = kRowSums / (rows * vectors), by_instructions = 46 / (vectors + rows + rows * vectors + 1);
  const int ways = by_registers < by_instructions ? by_registers : by_instructions;
  return ways < 1 ? 1 : ways;
}

inline constexpr int64_t kStripDepth = 64;  // of a block
inline constexpr int64_t kStripGroup = 16;  // strips that go over it

/// Depth of a block of a strip's sums: all of it where columns lie along the depth.
template <class T>
int64_t strip_depth(const GemmRowsArgsOf<T>& args) {
  const GemmArgsOf<T>& p = args.product;
  return args.b_transposed || p.k * p.n * kBytes<T> <= kMachine.l2_bytes ? p.k : kStripDepth;
}

/// Strips of a matrix: first the wide ones.
template <class T>
struct Strips {
  int64_t wide, width, count;  // wide ones, their columns, all
  explicit Strips(const GemmRowsArgsOf<T>& args) {
    const int64_t n = args.product.n;
    width = args.b_transposed ? kPanelColumns<T> : strip_vectors(static_cast<int>(larger(args.product.m, 1))) * kLanesOf<T>;
    wide = n / width;
    count = wide + ceil_div(n - wide * width, kPanelColumns<T>);
  }
  int64_t begin(int64_t strip) const {
    return strip < wide ? strip * width : wide * width + (strip - wide) * kPanelColumns<T>;
  }
};

/// sums += a b, of one step of depth: what there is less of, numbers of a or vectors of b, stays in registers meanwhile.
template <class T, int kRows, int kVectors, bool kWhole>
SVENGINE_INLINE void add_step(const T* a, const T* b, const vb* exists, Vec<T> (&sums)[kRows][kVectors]) {
  if constexpr (kRows < kVectors) {
    Vec<T> value[kRows];
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) value[r] = repeated<T>(a[r]);
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const Vec<T> x = svld1(kWhole ? every<T>() : exists[v], b + v * kLanesOf<T>);
      SVENGINE_UNROLL
      for (int r = 0; r < kRows; ++r) sums[r][v] = svmla_x(every<T>(), sums[r][v], x, value[r]);
    }
    return;
  }
  Vec<T> row[kVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v) row[v] = svld1(kWhole ? every<T>() : exists[v], b + v * kLanesOf<T>);
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) add_row<T>(r, a + r, row, sums[r]);
}

/// sums = a b over `depth`, or more of sums that have `begun`, of kVectors vectors of columns: panels of [kRows][kPanelColumns<T>].
template <class T, int kRows, int kVectors, bool kWhole>
__attribute__((noinline)) void sum_strip(int64_t depth, const T* a, const T* b, int64_t ldb, int64_t columns, bool begun, T* sums) {
  constexpr int kWays = strip_ways(kRows, kVectors);
  vb exists[kWhole ? 1 : kVectors];
  if constexpr (!kWhole) {
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) exists[v] = lanes_below<T>(int64_t{v} * kLanesOf<T>, columns);
  }
  const vb all = every<T>();
  Vec<T> sum[kWays][kRows][kVectors];
  SVENGINE_UNROLL
  for (int w = 0; w < kWays; ++w) SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v) sum[w][r][v] = repeated<T>(0);
  for (; depth >= kWays; depth -= kWays) {
    SVENGINE_UNROLL
    for (int w = 0; w < kWays; ++w, a += kRows, b += ldb) add_step<T, kRows, kVectors, kWhole>(a, b, exists, sum[w]);
  }
  SVENGINE_UNROLL
  for (int w = 1; w < kWays; ++w) SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v) sum[0][r][v] = svadd_x(all, sum[0][r][v], sum[w][r][v]);
  for (; depth > 0; --depth, a += kRows, b += ldb) add_step<T, kRows, kVectors, kWhole>(a, b, exists, sum[0]);
  SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v) SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    T* at = sums + (v / kPanelVectors * kRows + r) * kPanelColumns<T> + v % kPanelVectors * kLanesOf<T>;
    svst1(all, at, begun ? Vec<T>(svadd_x(all, svld1(all, at), sum[0][r][v])) : sum[0][r][v]);
  }
}

template <int kRows = kPanelRows, class T>
inline void sum_strip_of(int64_t rows, int64_t depth, const T* a, const T* b, int64_t ldb, int64_t columns, bool begun, T* sums) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return sum_strip_of<kRows - 1>(rows, depth, a, b, ldb, columns, begun, sums);
  }
  constexpr int kWide = strip_vectors(kRows);
  if (columns == kWide * kLanesOf<T>) return sum_strip<T, kRows, kWide, true>(depth, a, b, ldb, columns, begun, sums);
  sum_strip<T, kRows, kPanelVectors, false>(depth, a, b, ldb, columns, begun, sums);
}

inline constexpr int kDots = 8;                                          // columns of B side by side
inline constexpr int kDotRows = kMachine.vector_registers < 32 ? 1 : 2;  // rows of A

/// Lane i, i < kDots: the sum of x[i]'s lanes.
template <class T>
SVENGINE_INLINE void store_lane_sums(Vec<T> (&x)[kDots], T* sums) {
  constexpr int kLanes = kLanesOf<T>, kGroup = kLanes < kDots ? kLanes : kDots;
  const vb all = every<T>();
  SVENGINE_UNROLL
  for (int g = 0; g < kDots; g += kGroup) {
    SVENGINE_UNROLL
    for (int half = kGroup / 2; half > 0; half /= 2) SVENGINE_UNROLL
    for (int i = 0; i < half; ++i)
      x[g + i] = svadd_x(all, svzip1(x[g + i], x[g + i + half]), svzip2(x[g + i], x[g + i + half]));
    SVENGINE_UNROLL
    for (int parts = kLanes / kGroup; parts > 1; parts /= 2) {  // of a sum lie half the vector apart
      x[g] = svadd_x(all, svzip1(x[g], x[g]), svzip2(x[g], x[g]));
      x[g] = svuzp1(x[g], x[g]);
    }
    svst1(lanes_below<T>(0, kGroup), sums + g, x[g]);
  }
}

/// sums[r * kPanelColumns<T> + j] = row r of a times column j of b, for j < kDots. Columns from `last` on are that one again.
/// One row has two steps side by side. Its 16 sums, as those of two rows, wait for loads, of which a cycle starts two, not for each other;
/// three rows' loop would be of 65 instructions (A64FX).
template <class T, int kRows>
__attribute__((noinline)) void sum_dots(int64_t depth, const T* a, int64_t lda, const T* b, int64_t ldb, int64_t last, T* sums) {
  constexpr int kLanes = kLanesOf<T>, kWays = kRows == 1 && kMachine.vector_registers >= 32 ? 2 : 1;
  const T* column[kDots];
  SVENGINE_UNROLL
  for (int j = 0; j < kDots; ++j) column[j] = b + smaller(j, last) * ldb;
  Vec<T> sum[kWays][kRows][kDots];
  SVENGINE_UNROLL
  for (int w = 0; w < kWays; ++w) SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int j = 0; j < kDots; ++j) sum[w][r][j] = repeated<T>(0);
  const vb all = every<T>();
  const auto step = [&](vb exists, int64_t d, Vec<T> (&s)[kRows][kDots]) SVENGINE_INLINE_LAMBDA {
    Vec<T> row[kRows];
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) row[r] = svld1(exists, a + r * lda + d);
    SVENGINE_UNROLL
    for (int j = 0; j < kDots; ++j) {
      const Vec<T> x = svld1(exists, column[j] + d);
      SVENGINE_UNROLL
      for (int r = 0; r < kRows; ++r) s[r][j] = svmla_x(all, s[r][j], row[r], x);
    }
  };
  int64_t d = 0;
  for (; d + kWays * kLanes <= depth; d += kWays * kLanes) {
    SVENGINE_UNROLL
    for (int w = 0; w < kWays; ++w) step(all, d + w * kLanes, sum[w]);
  }
  for (; d < depth; d += kLanes) step(lanes_below<T>(d, depth), d, sum[0]);
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    SVENGINE_UNROLL
    for (int w = 1; w < kWays; ++w) SVENGINE_UNROLL
    for (int j = 0; j < kDots; ++j) sum[0][r][j] = svadd_x(all, sum[0][r][j], sum[w][r][j]);
    store_lane_sums<T>(sum[0][r], sums + r * kPanelColumns<T>);
  }
}

template <int kRows = kDotRows, class T>
inline void sum_dots_of(int64_t rows, int64_t depth, const T* a, int64_t lda, const T* b, int64_t ldb, int64_t last, T* sums) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return sum_dots_of<kRows - 1>(rows, depth, a, lda, b, ldb, last, sums);
  }
  sum_dots<T, kRows>(depth, a, lda, b, ldb, last, sums);
}

/// sums of a panel, [m][kPanelColumns<T>], of columns of B one after the other.
template <class T>
void sum_panel(const GemmRowsArgsOf<T>& args, const T* a, const T* b, int64_t columns, T* sums) {
  static_assert(kPanelColumns<T> % kDots == 0);
  const int64_t m = args.product.m;
  for (int64_t j = 0; j < columns; j += kDots)
    for (int64_t r = 0; r < m; r += kDotRows)
      sum_dots_of(smaller(kDotRows, m - r), args.product.k, a + r * args.lda, args.lda, b + j * args.ldb, args.ldb, columns - j - 1,
                  sums + r * kPanelColumns<T> + j);
}

/// The sums of a strip become C.
template <class T>
void finish_strip(const GemmArgsOf<T>& args, const Matrices<T>& x, int64_t first, int64_t columns, const T* sums) {
  for (int64_t column = first; column < first + columns; column += kPanelColumns<T>, sums += args.m * kPanelColumns<T>) {
    Tile<T> tile{};
    tile.seed = sums;
    tile.columns = smaller(first + columns - column, kPanelColumns<T>);
    tile.c = x.c + column;
    tile.bias = x.bias ? x.bias + (args.bias_kind == GemmBias::kColumn ? column : 0) : nullptr;
    tile.residual = x.residual ? x.residual + column : nullptr;
    run_tile(args.m, args, tile);
    finish_tile(args, tile, args.m);
  }
}

template <class T>
int64_t rows_tasks(const GemmRowsArgsOf<T>& args) noexcept {
  const GemmArgsOf<T>& p = args.product;
  return p.m == 0 ? 0 : p.batch.outer * p.batch.inner * Strips<T>(args).count;
}

/// Elements of a strip's sums.
template <class T>
int64_t strip_sums(const GemmRowsArgsOf<T>& args, const Strips<T>& strips) {
  return args.product.m * larger(strips.width, kPanelColumns<T>);
}

template <class T>
int64_t rows_scratch_bytes(const GemmRowsArgsOf<T>& args) noexcept {
  const Strips<T> strips(args);
  return smaller(strips.count, kStripGroup) * strip_sums(args, strips) * kBytes<T>;
}

/// Strips [begin, end) of a matrix, at most kStripGroup.
template <class T>
void run_strips(const GemmRowsArgsOf<T>& args, const Strips<T>& strips, const Matrices<T>& x, int64_t begin, int64_t end, T* scratch) {
  const GemmArgsOf<T>& p = args.product;
  const int64_t block = strip_depth(args), step = strip_sums(args, strips);
  int64_t d = 0;
  do {
    T* sums = scratch;
    for (int64_t strip = begin; strip < end; ++strip, sums += step) {
      const int64_t first = strips.begin(strip), columns = smaller(p.n, strips.begin(strip + 1)) - first;
      if (args.b_transposed) sum_panel(args, x.a, x.b + first * args.ldb, columns, sums);
      else sum_strip_of(p.m, smaller(block, p.k - d), x.a + d * p.m, x.b + d * args.ldb + first, args.ldb, columns, d > 0, sums);
    }
    d += block;
  } while (d < p.k);
  const T* sums = scratch;
  for (int64_t strip = begin; strip < end; ++strip, sums += step) {
    const int64_t first = strips.begin(strip);
    finish_strip(p, x, first, smaller(p.n, strips.begin(strip + 1)) - first, sums);
  }
}

template <class T>
void rows(const GemmRowsArgsOf<T>& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept {
  const Strips<T> strips(args);
  for (int64_t task = task_begin; task < task_end;) {
    const int64_t matrix = task / strips.count, begin = task % strips.count;
    const int64_t end = smaller(smaller(begin + (task_end - task), begin + kStripGroup), strips.count);
    run_strips(args, strips, matrices_of(args.product, matrix), begin, end, static_cast<T*>(scratch));
    task += end - begin;
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
