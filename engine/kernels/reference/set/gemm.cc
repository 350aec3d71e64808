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

template <class T>
using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowMajor = Rows<double>;

constexpr int64_t kTile = 32;    // rows and columns of C
constexpr int64_t kDepth = 256;  // widened at once
constexpr int64_t kPackRows = 16;

template <class T>
int64_t packed_a_bytes(int64_t m, int64_t k) noexcept {
  return round_up(m * k * int64_t(sizeof(T)), 256);
}
template <class T>
int64_t packed_b_bytes(int64_t k, int64_t n) noexcept {
  return packed_a_bytes<T>(n, k);
}

template <class T>
int64_t pack_tasks(const GemmPackArgsOf<T>& args) noexcept {
  return args.batch.outer * args.batch.inner * ceil_div(args.extent, kPackRows);
}

/// Rows [begin, end) of the extent: the packed operand is [extent][depth].
template <class T>
void pack_rows(const GemmPackArgsOf<T>& args, const T* source, T* packed, int64_t begin, int64_t end) {
  const auto at = [&](int64_t x, int64_t d) { return args.depth_major ? source[d * args.ld + x] : source[x * args.ld + d]; };
  for (int64_t d = 0; d < args.depth; ++d)
    for (int64_t x = begin; x < end; ++x) packed[x * args.depth + d] = at(x, d);
  if (!args.sums) return;
  for (int64_t piece = 0; piece < ceil_div(args.depth, kGemmPackDepth); ++piece)
    for (int64_t x = begin; x < end; ++x) {
      double sum = 0;
      for (int64_t d = piece * kGemmPackDepth; d < std::min(args.depth, (piece + 1) * kGemmPackDepth); ++d) sum += at(x, d);
      args.sums[piece * args.extent + x] = static_cast<T>(sum);
    }
}

template <class T>
void pack(const GemmPackArgsOf<T>& args, int64_t begin, int64_t end) noexcept {
  const int64_t each = ceil_div(args.extent, kPackRows);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t outer = task / each / args.batch.inner, inner = task / each % args.batch.inner, first = task % each * kPackRows;
    pack_rows(args, args.source + outer * args.source_stride.outer + inner * args.source_stride.inner,
              args.packed + outer * args.packed_stride.outer + inner * args.packed_stride.inner, first,
              std::min(args.extent, first + kPackRows));
  }
}

template <class T>
int64_t tasks(const GemmArgsOf<T>& args) noexcept {
  return args.batch.outer * args.batch.inner * ceil_div(args.m, kTile) * ceil_div(args.n, kTile);
}
template <class T>
int64_t scratch_bytes(const GemmArgsOf<T>&) noexcept { return (kTile * kTile + 2 * kTile * kDepth) * int64_t(sizeof(double)); }

/// A tile of C: rows x columns from (row, column) on, of matrix [outer][inner].
struct Tile {
  int64_t outer, inner, row, column, rows, columns;
};

template <class T>
Tile tile_of(const GemmArgsOf<T>& args, int64_t task) {
  const int64_t down = ceil_div(args.m, kTile), across = ceil_div(args.n, kTile);
  const int64_t matrix = task / (down * across), row = task / across % down * kTile, column = task % across * kTile;
  return {matrix / args.batch.inner,     matrix % args.batch.inner,       row, column,
          std::min(kTile, args.m - row), std::min(kTile, args.n - column)};
}

/// `rows` x `depth` from `from`, whose rows are `ld` apart.
template <class T>
Eigen::Map<RowMajor> widened(const T* from, int64_t ld, int64_t rows, int64_t depth, double* to) {
  Eigen::Map<RowMajor> wide(to, rows, depth);
  wide = Eigen::Map<const Rows<T>, 0, Eigen::OuterStride<>>(from, rows, depth, Eigen::OuterStride<>(ld)).template cast<double>();
  return wide;
}

template <class T>
Eigen::Map<RowMajor> product(const GemmArgsOf<T>& args, const Tile& t, double* scratch) {
  const T* a = args.a + t.outer * args.a_stride.outer + t.inner * args.a_stride.inner + t.row * args.k;
  const T* b = args.b + t.outer * args.b_stride.outer + t.inner * args.b_stride.inner + t.column * args.k;
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

template <class T>
double bias_at(const GemmArgsOf<T>& args, const Tile& t, int64_t row, int64_t column) {
  const T* bias = args.bias + t.outer * args.bias_stride.outer + t.inner * args.bias_stride.inner;
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

/// C's tile, of its sums.
template <class T>
void finish(const GemmArgsOf<T>& args, const Tile& t, const Eigen::Map<RowMajor>& sums) {
  T* c = args.c + t.outer * args.c_stride.outer + t.inner * args.c_stride.inner;
  const T* residual = args.residual;
  if (residual) residual += t.outer * args.residual_stride.outer + t.inner * args.residual_stride.inner;
  for (int64_t i = 0; i < t.rows; ++i)
    for (int64_t j = 0; j < t.columns; ++j) {
      const int64_t row = t.row + i, column = t.column + j;
      double value = args.alpha * sums(i, j);
      if (args.bias_kind != GemmBias::kNone) value += bias_at(args, t, row, column);
      if (residual) value += double{args.residual_scale} * residual[row * args.ld_residual + column];
      c[row * args.ldc + column] = static_cast<T>(reference_activation(value, args.activation));
    }
}

template <class T>
void run(const GemmArgsOf<T>& args, int64_t begin, int64_t end, void* scratch) noexcept {
  for (int64_t task = begin; task < end; ++task) {
    const Tile t = tile_of(args, task);
    finish(args, t, product(args, t, static_cast<double*>(scratch)));
  }
}

template <class T>
int64_t rows_tasks(const GemmRowsArgsOf<T>& args) noexcept { return tasks(args.product); }
template <class T>
int64_t rows_scratch_bytes(const GemmRowsArgsOf<T>&) noexcept { return kTile * kTile * int64_t(sizeof(double)); }

template <class T>
void run_rows(const GemmRowsArgsOf<T>& args, int64_t begin, int64_t end, void* scratch) noexcept {
  const GemmArgsOf<T>& p = args.product;
  const int64_t lda = args.b_transposed ? args.lda : p.k;
  const int64_t depth_step = args.b_transposed ? 1 : args.ldb, column_step = args.b_transposed ? args.ldb : 1;
  for (int64_t task = begin; task < end; ++task) {
    const Tile t = tile_of(p, task);
    const T* a = p.a + t.outer * p.a_stride.outer + t.inner * p.a_stride.inner + t.row * lda;
    const T* b = p.b + t.outer * p.b_stride.outer + t.inner * p.b_stride.inner + t.column * column_step;
    Eigen::Map<RowMajor> sums(static_cast<double*>(scratch), t.rows, t.columns);
    sums.setZero();
    for (int64_t d = 0; d < p.k; ++d)
      for (int64_t i = 0; i < t.rows; ++i)
        for (int64_t j = 0; j < t.columns; ++j) sums(i, j) += double{a[i * lda + d]} * double{b[d * depth_step + j * column_step]};
    finish(p, t, sums);
  }
}

template <class T>
int64_t chain_tasks(const DenseChainArgsOf<T>& args) noexcept {
  return args.rows;
}

/// Two buffers as wide as the widest layer.
template <class T>
int64_t chain_width(const DenseChainArgsOf<T>& args) {
  int64_t width = args.layers[0].groups * args.layers[0].inputs;
  for (int64_t l = 0; l < args.count; ++l) width = std::max(width, args.layers[l].groups * args.layers[l].outputs);
  return width;
}
template <class T>
int64_t chain_scratch_bytes(const DenseChainArgsOf<T>& args) noexcept {
  return 2 * chain_width(args) * int64_t(sizeof(double));
}

template <class T>
void run_layer(const DenseLayerOf<T>& layer, const double* in, double* out) {
  for (int64_t g = 0; g < layer.groups; ++g)
    for (int64_t o = 0; o < layer.outputs; ++o) {
      const T* w = layer.weights + g * packed_a_bytes<T>(layer.outputs, layer.inputs) / int64_t(sizeof(T)) + o * layer.inputs;
      double sum = layer.bias ? double{layer.bias[g * layer.outputs + o]} : 0;
      for (int64_t i = 0; i < layer.inputs; ++i) sum += double{w[i]} * in[g * layer.inputs + i];
      out[g * layer.outputs + o] = reference_activation(sum, layer.activation);
    }
}

template <class T>
void run_chain(const DenseChainArgsOf<T>& args, int64_t begin, int64_t end, void* scratch) noexcept {
  const DenseLayerOf<T>& last = args.layers[args.count - 1];
  const int64_t inputs = args.layers[0].groups * args.layers[0].inputs, outputs = last.groups * last.outputs;
  double *in = static_cast<double*>(scratch), *out = in + chain_width(args);
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t i = 0; i < inputs; ++i) in[i] = double{args.x[row * inputs + i]};
    for (int64_t l = 0; l < args.count; ++l, std::swap(in, out)) run_layer(args.layers[l], in, out);
    for (int64_t o = 0; o < outputs; ++o) args.y[row * outputs + o] = static_cast<T>(in[o]);
  }
}

template <class T>
constexpr GemmKernelsOf<T> table_of() {
  return {1,       1,          packed_a_bytes<T>, packed_b_bytes<T>, pack_tasks<T>,
          pack<T>, pack_tasks<T>, pack<T>,        tasks<T>,          scratch_bytes<T>,
          run<T>,  {rows_tasks<T>, rows_scratch_bytes<T>, run_rows<T>}, {chain_tasks<T>, chain_scratch_bytes<T>, run_chain<T>}};
}

}  // namespace

extern const GemmKernelsOf<float> gemm_kernels;
constinit const GemmKernelsOf<float> gemm_kernels = table_of<float>();
extern const GemmKernelsOf<double> gemm_f64_kernels;
constinit const GemmKernelsOf<double> gemm_f64_kernels = table_of<double>();

}  // namespace svengine::kernels::reference
