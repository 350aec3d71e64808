// Family gemm by OpenBLAS: operands are "packed" into plain rows, for OpenBLAS packs them itself, and a task is a tile of C:
//
//     C  = bias + residual           the base's own kernel, with nothing to multiply
//     C += alpha A B                 OpenBLAS
//     C  = activation(C)             the base's own kernel again, where there is one
//
// A tile's operands are packed by OpenBLAS for that tile alone, which costs about as much as 1 / 85 of its sums at this size.
#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "engine/base/round.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/openblas/library.h"
#include "engine/kernels/openblas/openblas.h"
#include "engine/kernels/openblas/pack.h"

namespace svengine::kernels {
namespace openblas {
namespace {

constexpr int64_t kRows = 128, kColumns = 256;  // of a tile
constexpr int64_t kLongest = int64_t{1} << 30;  // sums that one call of OpenBLAS, whose sizes are of 32 bits, makes

/// What tables of plain function pointers cannot carry: set before the first of them is given out.
const Library* functions = nullptr;

template <class T>
GemmFunction<T> blas_gemm() {
  if constexpr (sizeof(T) == sizeof(double)) return functions->dgemm;
  else return functions->sgemm;
}

/// The kernels that begin and end a tile: the best that this processor runs.
template <class T>
const GemmKernelsOf<T>& own() {
  static const KernelTable& set = *all_kernel_sets().front();
  if constexpr (sizeof(T) == sizeof(double)) return *set.gemm_f64;
  else return *set.gemm;
}

/// C [m, n] = beta C + alpha A B', of operands by rows; strides of two rows are the operands' own.
template <class T>
struct PlainProduct {
  int64_t m, n, k;
  T alpha;
  const T* a;
  const T* b;
  int64_t lda;  // of B it is k
  T beta;
  T* c;
  int64_t ldc;
};

/// Row by row, and piece by piece of the depth, where a size is beyond OpenBLAS's integers.
template <class T>
void multiply(const PlainProduct<T>& p) {
  const auto fits = [](int64_t ld) { return ld <= kLongest; };
  const auto size = [](int64_t x) { return static_cast<int32_t>(std::min(x, kLongest)); };
  const int64_t rows = fits(p.lda) && fits(p.ldc) ? p.m : 1, columns = fits(p.k) ? p.n : 1;
  for (int64_t i = 0; i < p.m; i += rows)
    for (int64_t j = 0; j < p.n; j += columns) {
      int64_t d = 0;
      do {
        const int64_t depth = std::min(kLongest, p.k - d);
        // No leading dimension may be less than a row, even of no elements.
        blas_gemm<T>()(kRowMajor, kNoTranspose, kTranspose, size(rows), size(columns), size(depth), p.alpha, p.a + i * p.lda + d,
                       size(std::max<int64_t>(p.lda, 1)), p.b + j * p.k + d, size(std::max<int64_t>(p.k, 1)), d == 0 ? p.beta : T{1},
                       p.c + i * p.ldc + j, size(std::max(p.ldc, columns)));
        d += depth;
      } while (d < p.k);
    }
}

/// C by the base's kernel, without a product: bias, residual and activation of `args`, whose k is 0.
template <class T>
void finish(const GemmArgsOf<T>& args, void* scratch) {
  own<T>().gemm(args, 0, own<T>().gemm_tasks(args), scratch);
}

template <class T>
GemmArgsOf<T> without_product(int64_t m, int64_t n, T* c, int64_t ldc) {
  GemmArgsOf<T> args;
  args.m = m, args.n = n, args.k = 0;
  args.c = c, args.ldc = ldc;
  return args;
}

template <class T>
void activate(int64_t m, int64_t n, T* c, int64_t ldc, const ActivationArgs& activation, void* scratch) {
  if (activation.kind == Activation::kNone) return;
  GemmArgsOf<T> args = without_product(m, n, c, ldc);
  args.residual = c, args.ld_residual = ldc;
  args.activation = activation;
  finish(args, scratch);
}

template <class T>
int64_t tasks(const GemmArgsOf<T>& args) noexcept {
  return args.batch.outer * args.batch.inner * ceil_div(args.m, kRows) * ceil_div(args.n, kColumns);
}

/// What the base's kernel wants for a tile of at most m x n.
template <class T>
int64_t own_scratch(int64_t m, int64_t n) {
  int64_t most = 0;
  for (const int64_t rows : {std::min(m, kRows), m % kRows})
    for (const int64_t columns : {std::min(n, kColumns), n % kColumns})
      if (rows > 0 && columns > 0) most = std::max(most, own<T>().gemm_scratch_bytes(without_product<T>(rows, columns, nullptr, columns)));
  return most;
}
template <class T>
int64_t scratch_bytes(const GemmArgsOf<T>& args) noexcept {
  return own_scratch<T>(args.m, args.n);
}

template <class T>
int64_t offset(const GemmStride& stride, int64_t outer, int64_t inner) {
  return outer * stride.outer + inner * stride.inner;
}

template <class T>
void run_tile(const GemmArgsOf<T>& args, int64_t outer, int64_t inner, int64_t row, int64_t column, void* scratch) {
  const int64_t m = std::min(kRows, args.m - row), n = std::min(kColumns, args.n - column);
  T* c = args.c + offset<T>(args.c_stride, outer, inner) + row * args.ldc + column;
  GemmArgsOf<T> first = without_product(m, n, c, args.ldc);
  if (args.bias_kind != GemmBias::kNone) {
    first.bias_kind = args.bias_kind, first.bias_scale = args.bias_scale;
    first.bias = args.bias + offset<T>(args.bias_stride, outer, inner);
    if (args.bias_kind == GemmBias::kColumn) first.bias += column;
    if (args.bias_kind == GemmBias::kRow) first.bias += row;
  }
  if (args.residual) {
    first.residual = args.residual + offset<T>(args.residual_stride, outer, inner) + row * args.ld_residual + column;
    first.ld_residual = args.ld_residual, first.residual_scale = args.residual_scale;
  }
  const bool begun = first.residual || first.bias_kind != GemmBias::kNone;
  if (begun) finish(first, scratch);
  multiply<T>({m, n, args.k, static_cast<T>(args.alpha), args.a + offset<T>(args.a_stride, outer, inner) + row * args.k,
               args.b + offset<T>(args.b_stride, outer, inner) + column * args.k, args.k, begun ? T{1} : T{0}, c, args.ldc});
  activate(m, n, c, args.ldc, args.activation, scratch);
}

template <class T>
void run(const GemmArgsOf<T>& args, int64_t begin, int64_t end, void* scratch) noexcept {
  const int64_t down = ceil_div(args.m, kRows), across = ceil_div(args.n, kColumns);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t matrix = task / (down * across);
    run_tile(args, matrix / args.batch.inner, matrix % args.batch.inner, task / across % down * kRows, task % across * kColumns, scratch);
  }
}

/// One row, as panel_rows says, is packed for OpenBLAS as it is for the base.
template <class T>
int64_t rows_tasks(const GemmRowsArgsOf<T>& args) noexcept {
  return own<T>().rows.tasks(args);
}
template <class T>
int64_t rows_scratch_bytes(const GemmRowsArgsOf<T>& args) noexcept {
  return own<T>().rows.scratch_bytes(args);
}
template <class T>
void run_rows(const GemmRowsArgsOf<T>& args, int64_t begin, int64_t end, void* scratch) noexcept {
  own<T>().rows.run(args, begin, end, scratch);
}

template <class T>
int64_t chain_tasks(const DenseChainArgsOf<T>& args) noexcept {
  return ceil_div(args.rows, kRows);
}

/// Elements between two rows of what lies between layers: the widest layer.
template <class T>
int64_t chain_width(const DenseChainArgsOf<T>& args) {
  int64_t width = 0;
  for (int64_t l = 0; l < args.count; ++l) width = std::max(width, args.layers[l].groups * args.layers[l].outputs);
  return width;
}

/// Two blocks of rows, and what the base's kernel wants for one.
template <class T>
int64_t chain_block_bytes(const DenseChainArgsOf<T>& args) {
  return round_up(std::min(kRows, args.rows) * chain_width(args) * int64_t(sizeof(T)), int64_t{256});
}
template <class T>
int64_t chain_scratch_bytes(const DenseChainArgsOf<T>& args) noexcept {
  int64_t most = 0;
  for (const int64_t rows : {std::min(args.rows, kRows), args.rows % kRows})
    for (int64_t l = 0; l < args.count && rows > 0; ++l)
      most = std::max(most, own<T>().gemm_scratch_bytes(without_product<T>(rows, args.layers[l].outputs, nullptr, args.layers[l].outputs)));
  return 2 * chain_block_bytes(args) + most;
}

/// A block of rows through one layer; `ld_in` and `ld_out` are from row to row.
template <class T>
void run_layer(const DenseLayerOf<T>& layer, int64_t rows, const T* in, int64_t ld_in, T* out, int64_t ld_out, void* scratch) {
  const int64_t weights = packed_a_bytes<T>(layer.outputs, layer.inputs) / int64_t(sizeof(T));
  for (int64_t g = 0; g < layer.groups; ++g) {
    T* c = out + g * layer.outputs;
    if (layer.bias) {
      GemmArgsOf<T> first = without_product(rows, layer.outputs, c, ld_out);
      first.bias_kind = GemmBias::kColumn, first.bias = layer.bias + g * layer.outputs;
      finish(first, scratch);
    }
    multiply<T>({rows, layer.outputs, layer.inputs, T{1}, in + g * layer.inputs, layer.weights + g * weights, ld_in,
                 layer.bias ? T{1} : T{0}, c, ld_out});
    activate(rows, layer.outputs, c, ld_out, layer.activation, scratch);
  }
}

template <class T>
void run_chain(const DenseChainArgsOf<T>& args, int64_t begin, int64_t end, void* scratch) noexcept {
  auto* bytes = static_cast<std::byte*>(scratch);
  const int64_t block = chain_block_bytes(args), width = chain_width(args);
  std::array<T*, 2> between{reinterpret_cast<T*>(bytes), reinterpret_cast<T*>(bytes + block)};
  const DenseLayerOf<T>& last = args.layers[args.count - 1];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t row = task * kRows, rows = std::min(kRows, args.rows - row);
    int64_t ld_in = args.layers[0].groups * args.layers[0].inputs;
    const T* in = args.x + row * ld_in;
    for (int64_t l = 0; l < args.count; ++l) {
      const bool ends = l + 1 == args.count;
      T* out = ends ? args.y + row * last.groups * last.outputs : between[static_cast<size_t>(l % 2)];
      const int64_t ld_out = ends ? last.groups * last.outputs : width;
      run_layer(args.layers[l], rows, in, ld_in, out, ld_out, bytes + 2 * block);
      in = out, ld_in = ld_out;
    }
  }
}

template <class T>
constexpr GemmKernelsOf<T> table_of() {
  return {1,       1,          packed_a_bytes<T>, packed_b_bytes<T>, pack_tasks<T>,
          pack<T>, pack_tasks<T>, pack<T>,        tasks<T>,          scratch_bytes<T>,
          run<T>,  {rows_tasks<T>, rows_scratch_bytes<T>, run_rows<T>}, {chain_tasks<T>, chain_scratch_bytes<T>, run_chain<T>}};
}

constexpr GemmKernelsOf<float> kFloat = table_of<float>();
constexpr GemmKernelsOf<double> kDouble = table_of<double>();

/// Every set with OpenBLAS's products.
struct Tables {
  std::deque<std::string> names;
  std::deque<std::pair<const KernelTable*, KernelTable>> of;

  explicit Tables(const Library& library) {
    functions = &library;
    for (const KernelTable* base : all_kernel_sets()) {
      of.emplace_back(base, *base);
      KernelTable& table = of.back().second;
      table.name = names.emplace_back(std::string(base->name) + "+openblas").c_str();
      table.gemm = &kFloat, table.gemm_f64 = &kDouble;
    }
  }
};

}  // namespace
}  // namespace openblas

Result<const KernelTable*> with_openblas(const KernelTable& base) {
  SV_ASSIGN(const openblas::Library* library, openblas::library());
  static const openblas::Tables tables(*library);
  for (const auto& [from, table] : tables.of)
    if (from == &base) return &table;
  return error("kernel set {} has no products to replace", base.name);
}

Result<std::string> openblas_description() {
  SV_ASSIGN(const openblas::Library* library, openblas::library());
  return library->description;
}

}  // namespace svengine::kernels
