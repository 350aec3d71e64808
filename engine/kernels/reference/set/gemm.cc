// Matrix products by Eigen, in double.
//
// Panels of one row and one column: packed A is A by rows, packed B is B by columns. A task is a tile of C. Its operands are
// widened piece by piece of the depth into the scratch, where Eigen multiplies them as dot products, which allocate nothing.
#include "engine/kernels/gemm.h"

#include <Eigen/Core>

#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int64_t kTile = 32;    // rows and columns of C
constexpr int64_t kDepth = 256;  // widened at once
constexpr int64_t kPackRows = 16;

int64_t packed_a_bytes(int64_t m, int64_t k) noexcept { return round_up(m * k * 4, 256); }
int64_t packed_b_bytes(int64_t k, int64_t n) noexcept { return packed_a_bytes(n, k); }

int64_t pack_tasks(const GemmPackArgs& args) noexcept {
  return args.batch.outer * args.batch.inner * ceil_div(args.extent, kPackRows);
}

/// Rows [begin, end) of the extent: the packed operand is [extent][depth].
void pack_rows(const GemmPackArgs& args, const float* source, float* packed, int64_t begin, int64_t end) {
  const auto at = [&](int64_t x, int64_t d) { return args.depth_major ? source[d * args.ld + x] : source[x * args.ld + d]; };
  for (int64_t d = 0; d < args.depth; ++d)
    for (int64_t x = begin; x < end; ++x) packed[x * args.depth + d] = at(x, d);
  if (!args.sums) return;
  for (int64_t piece = 0; piece < ceil_div(args.depth, kGemmPackDepth); ++piece)
    for (int64_t x = begin; x < end; ++x) {
      double sum = 0;
      for (int64_t d = piece * kGemmPackDepth; d < std::min(args.depth, (piece + 1) * kGemmPackDepth); ++d) sum += at(x, d);
      args.sums[piece * args.extent + x] = static_cast<float>(sum);
    }
}

void pack(const GemmPackArgs& args, int64_t begin, int64_t end) noexcept {
  const int64_t each = ceil_div(args.extent, kPackRows);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t outer = task / each / args.batch.inner, inner = task / each % args.batch.inner, first = task % each * kPackRows;
    pack_rows(args, args.source + outer * args.source_stride.outer + inner * args.source_stride.inner,
              args.packed + outer * args.packed_stride.outer + inner * args.packed_stride.inner, first,
              std::min(args.extent, first + kPackRows));
  }
}

int64_t tasks(const GemmArgs& args) noexcept {
  return args.batch.outer * args.batch.inner * ceil_div(args.m, kTile) * ceil_div(args.n, kTile);
}
int64_t scratch_bytes(const GemmArgs&) noexcept { return (kTile * kTile + 2 * kTile * kDepth) * int64_t(sizeof(double)); }

/// A tile of C: rows x columns from (row, column) on, of matrix [outer][inner].
struct Tile {
  int64_t outer, inner, row, column, rows, columns;
};

Tile tile_of(const GemmArgs& args, int64_t task) {
  const int64_t down = ceil_div(args.m, kTile), across = ceil_div(args.n, kTile);
  const int64_t matrix = task / (down * across), row = task / across % down * kTile, column = task % across * kTile;
  return {matrix / args.batch.inner,     matrix % args.batch.inner,       row, column,
          std::min(kTile, args.m - row), std::min(kTile, args.n - column)};
}

/// `rows` x `depth` from `from`, whose rows are `ld` apart.
Eigen::Map<RowMajor> widened(const float* from, int64_t ld, int64_t rows, int64_t depth, double* to) {
  Eigen::Map<RowMajor> wide(to, rows, depth);
  wide = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0, Eigen::OuterStride<>>(
             from, rows, depth, Eigen::OuterStride<>(ld))
             .cast<double>();
  return wide;
}

Eigen::Map<RowMajor> product(const GemmArgs& args, const Tile& t, double* scratch) {
  const float* a = args.a + t.outer * args.a_stride.outer + t.inner * args.a_stride.inner + t.row * args.k;
  const float* b = args.b + t.outer * args.b_stride.outer + t.inner * args.b_stride.inner + t.column * args.k;
  Eigen::Map<RowMajor> c(scratch, t.rows, t.columns);
  c.setZero();
  double *a_wide = scratch + kTile * kTile, *b_wide = a_wide + kTile * kDepth;
  for (int64_t d = 0; d < args.k; d += kDepth) {
    const int64_t depth = std::min(kDepth, args.k - d);
    c.noalias() +=
        widened(a + d, args.k, t.rows, depth, a_wide).lazyProduct(widened(b + d, args.k, t.columns, depth, b_wide).transpose());
  }
  return c;
}

double bias_at(const GemmArgs& args, const Tile& t, int64_t row, int64_t column) {
  const float* bias = args.bias + t.outer * args.bias_stride.outer + t.inner * args.bias_stride.inner;
  switch (args.bias_kind) {
    case GemmBias::kNone:
      break;
    case GemmBias::kColumn:
      return double{args.bias_scale} * bias[column];
    case GemmBias::kRow:
      return double{args.bias_scale} * bias[row];
    case GemmBias::kOne:
      return double{args.bias_scale} * bias[0];
  }
  return 0;
}

void run(const GemmArgs& args, int64_t begin, int64_t end, void* scratch) noexcept {
  for (int64_t task = begin; task < end; ++task) {
    const Tile t = tile_of(args, task);
    const Eigen::Map<RowMajor> sums = product(args, t, static_cast<double*>(scratch));
    float* c = args.c + t.outer * args.c_stride.outer + t.inner * args.c_stride.inner;
    const float* residual = args.residual;
    if (residual) residual += t.outer * args.residual_stride.outer + t.inner * args.residual_stride.inner;
    for (int64_t i = 0; i < t.rows; ++i)
      for (int64_t j = 0; j < t.columns; ++j) {
        const int64_t row = t.row + i, column = t.column + j;
        double value = args.alpha * sums(i, j);
        if (args.bias_kind != GemmBias::kNone) value += bias_at(args, t, row, column);
        if (residual) value += double{args.residual_scale} * residual[row * args.ld_residual + column];
        c[row * args.ldc + column] = static_cast<float>(reference_activation(value, args.activation));
      }
  }
}

}  // namespace

extern const GemmKernels gemm_kernels;
constinit const GemmKernels gemm_kernels{1,          1,    packed_a_bytes, packed_b_bytes, pack_tasks, pack,
                                         pack_tasks, pack, tasks,          scratch_bytes,  run};

}  // namespace svengine::kernels::reference
