#include "engine/ops/nn/product_common.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/base/round.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

using kernels::GemmArgsOf;
using kernels::GemmBatch;
using kernels::GemmKernelsOf;
using kernels::GemmPackArgsOf;
using kernels::GemmRowsArgsOf;
using kernels::GemmStride;

/// The kernels for products of T.
template <class T>
const GemmKernelsOf<T>& gemm_of(LowerContext& c) {
  if constexpr (std::is_same_v<T, double>) return *c.kernels().gemm_f64;
  else return *c.kernels().gemm;
}

/// Merges neighbouring batch dimensions that every operand steps through evenly, and drops those of size 1.
void merge_batch(Product& p) {
  std::vector<std::vector<int64_t>*> all{&p.a.batch_strides, &p.b.batch_strides, &p.c_strides};
  for (size_t i = p.batch.size(); i-- > 0;) {
    if (p.batch[i] != 1) continue;
    p.batch.erase(p.batch.begin() + static_cast<int64_t>(i));
    for (auto* s : all) s->erase(s->begin() + static_cast<int64_t>(i));
  }
  for (size_t i = p.batch.size(); i-- > 1;) {
    const auto even = [&](const std::vector<int64_t>* s) { return (*s)[i - 1] == (*s)[i] * p.batch[i]; };
    if (!std::all_of(all.begin(), all.end(), even)) continue;
    p.batch[i - 1] *= p.batch[i];
    p.batch.erase(p.batch.begin() + static_cast<int64_t>(i));
    for (auto* s : all) s->erase(s->begin() + static_cast<int64_t>(i) - 1);
  }
}

/// One B for all of a dense batch of A: the batch is more rows.
void batch_to_rows(Product& p) {
  if (p.batch.size() != 1 || p.b.batch_strides[0] != 0 || p.a.transposed || p.bias.kind == kernels::GemmBias::kRow) return;
  if (p.a.batch_strides[0] != p.m * p.a.ld || p.c_strides[0] != p.m * p.ldc) return;
  p.m *= p.batch[0];
  p.batch.clear();
  p.a.batch_strides.clear();
  p.b.batch_strides.clear();
  p.c_strides.clear();
}

/// The innermost two batch dimensions are the kernel's; what is left over is walked in the step.
struct BatchSplit {
  GemmBatch kernel;
  Dims leading;
};

BatchSplit split_batch(const Product& p) {
  BatchSplit s;
  const size_t n = p.batch.size();
  if (n >= 1) s.kernel.inner = p.batch[n - 1];
  if (n >= 2) s.kernel.outer = p.batch[n - 2];
  if (n > 2) s.leading.assign(p.batch.begin(), p.batch.end() - 2);
  return s;
}

GemmStride inner_strides(const std::vector<int64_t>& strides) {
  const size_t n = strides.size();
  return {n >= 2 ? strides[n - 2] : 0, n >= 1 ? strides[n - 1] : 0};
}

/// Offset of leading batch index `index` (row-major over `dims`) under `strides`.
int64_t leading_offset(const Dims& dims, const std::vector<int64_t>& strides, int64_t index) {
  int64_t offset = 0;
  for (size_t i = dims.size(); i-- > 0; index /= dims[i]) offset += index % dims[i] * strides[i];
  return offset;
}

/// Tasks [begin, end), `each` of them a matrix: body(matrix, first, last) for the part that falls on every matrix.
template <class Body>
void for_each_matrix(int64_t each, int64_t begin, int64_t end, Body&& body) {
  for (int64_t t = begin; t < end;) {
    const int64_t first = t % each, last = std::min(each, first + end - t);
    body(t / each, first, last);
    t += last - first;
  }
}

struct PackedOperand {
  Buffer buffer;
  std::vector<int64_t> strides;  // in elements, per batch dimension of the product
};

template <class T>
struct Packer {
  const char* step;
  int64_t used;   // bytes of one packed matrix
  int64_t bytes;  // with what lies between one and the next
  int64_t (*tasks)(const GemmPackArgsOf<T>&) noexcept;
  void (*pack)(const GemmPackArgsOf<T>&, int64_t, int64_t) noexcept;
};

/// The pieces' sums, [pieces][extent], to those of the whole depth.
void emit_part_sums(LowerContext& c, Buffer parts, Buffer out, int64_t pieces, int64_t extent) {
  constexpr int64_t kEach = 1024;  // sums of a task
  c.emit("pack_sums", ceil_div(extent, kEach), [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    for (int64_t i = begin * kEach; i < std::min(extent, end * kEach); ++i) {
      double sum = 0;
      for (int64_t piece = 0; piece < pieces; ++piece) sum += run.get<const float>(parts)[piece * extent + i];
      run.get<float>(out)[i] = static_cast<float>(sum);
    }
    return nullptr;
  });
}

/// Packs every distinct matrix of an operand: dimensions it does not vary over are packed once.
template <class T>
PackedOperand pack_operand(LowerContext& c, const Product& p, const ProductOperand& operand, GemmPackArgsOf<T> args,
                           const Packer<T>& packer) {
  const int64_t each_elements = packer.bytes / int64_t(sizeof(T));
  PackedOperand packed;
  packed.strides.resize(p.batch.size());
  Dims distinct(p.batch.size(), 1);
  int64_t count = 1;
  for (size_t i = p.batch.size(); i-- > 0;) {
    if (operand.batch_strides[i] == 0) continue;
    distinct[i] = p.batch[i];
    packed.strides[i] = count * each_elements;
    count *= p.batch[i];
  }
  if (operand.constant_input >= 0) {
    const auto input = static_cast<size_t>(operand.constant_input);
    // Everything that `fill` reads.
    const std::string layout =
        fmt::format("{}{} {} {} ld{} d{} [{}] by [{}]", packer.step, std::is_same_v<T, double> ? "_f64" : "", args.extent, args.depth, args.ld,
                    args.depth_major, fmt::join(distinct, " "), fmt::join(operand.batch_strides, " "));
    const int64_t each = packer.tasks(args);
    Packing packing{.layout = layout, .bytes = packer.bytes * count, .tasks = each * count};
    packing.fill = [=, strides = operand.batch_strides](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
      for_each_matrix(each, begin, end, [&](int64_t matrix, int64_t first, int64_t last) {
        GemmPackArgsOf<T> one = args;
        one.source = reinterpret_cast<const T*>(from) + leading_offset(distinct, strides, matrix);
        one.packed = reinterpret_cast<T*>(to + matrix * packer.bytes);
        packer.pack(one, first, last);
        if (last == each) std::memset(to + matrix * packer.bytes + packer.used, 0, static_cast<size_t>(packer.bytes - packer.used));
      });
    };
    packed.buffer = c.packed(input, std::move(packing));
    return packed;
  }
  packed.buffer = c.temporary(packer.bytes * count);
  const int64_t each = packer.tasks(args), pieces = ceil_div(args.depth, kernels::kGemmPackDepth);
  const Buffer sums = operand.sums ? c.temporary(pieces * args.extent * 4) : Buffer{};
  c.emit(packer.step, each * count,
         [=, from = operand.buffer, to = packed.buffer, strides = operand.batch_strides, pack = packer.pack](
             const Run& run, int64_t begin, int64_t end) -> const char* {
           for_each_matrix(each, begin, end, [&](int64_t matrix, int64_t first, int64_t last) {
             GemmPackArgsOf<T> one = args;
             one.source = run.get<const T>(from) + leading_offset(distinct, strides, matrix);
             one.packed = run.get<T>(to) + matrix * each_elements;
             one.sums = run.get<T>(sums);
             pack(one, first, last);
           });
           return nullptr;
         });
  if (operand.sums) emit_part_sums(c, sums, operand.sums, pieces, args.extent);
  return packed;
}

template <class T>
PackedOperand pack_panels_of_a(LowerContext& c, const Product& p) {
  const GemmKernelsOf<T>& gemm = gemm_of<T>(c);
  GemmPackArgsOf<T> args;
  args.ld = p.a.ld;
  args.depth_major = p.a.transposed;
  args.extent = p.m;
  args.depth = p.k;
  const int64_t used = p.m * p.k * int64_t(sizeof(T));
  return pack_operand<T>(c, p, p.a, args, {"pack_a", used, gemm.packed_a_bytes(p.m, p.k), gemm.pack_a_tasks, gemm.pack_a});
}

template <class T>
PackedOperand pack_a(LowerContext& c, const Product& p) {
  // One dense row is its own packed layout.
  if (p.m == 1 && (!p.a.transposed || p.a.ld == 1)) {
    const int constant = p.a.constant_input;
    return {constant >= 0 ? c.in(static_cast<size_t>(constant)) : p.a.buffer, p.a.batch_strides};
  }
  return pack_panels_of_a<T>(c, p);
}

template <class T>
PackedOperand pack_b(LowerContext& c, const Product& p) {
  const GemmKernelsOf<T>& gemm = gemm_of<T>(c);
  GemmPackArgsOf<T> args;
  args.ld = p.b.ld;
  args.depth_major = !p.b.transposed;
  args.extent = p.n;
  args.depth = p.k;
  const int64_t used = round_up(p.n, gemm.panel_columns) * p.k * int64_t(sizeof(T));
  return pack_operand<T>(c, p, p.b, args, {"pack_b", used, gemm.packed_b_bytes(p.k, p.n), gemm.pack_b_tasks, gemm.pack_b});
}

/// A B that packing would read and write for one use of what it leaves. The kernel turns columns of B in sums as packing does, but for every
/// row of A: 8 x 64 x 512 takes 14 us against 10.5, 4 x 64 x 512 9.3 against 8.6, 8 x 512 x 512 62 against 81 (a Sapphire Rapids).
template <class T>
bool reads_b_in_place(const GemmKernelsOf<T>& gemm, const Product& p) {
  if (p.b.constant_input >= 0 || p.a.sums || p.b.sums) return false;
  const int64_t most = !p.b.transposed ? gemm.panel_rows : p.k < 256 ? 3 : 8;
  return p.m <= std::min<int64_t>(most, gemm.panel_rows);
}

/// A by rows, with what lies between one and the next.
struct PlainRows {
  PackedOperand operand;
  int64_t ld;
};

template <class T>
PlainRows rows_of_a(LowerContext& c, const Product& p) {
  const int constant = p.a.constant_input;
  const Buffer from = constant >= 0 ? c.in(static_cast<size_t>(constant)) : p.a.buffer;
  if (!p.a.transposed || (p.m == 1 && p.a.ld == 1)) return {{from, p.a.batch_strides}, p.a.ld};
  PackedOperand rows{c.temporary(element_count(p.batch) * p.m * p.k * int64_t(sizeof(T))), strides_of(p.batch)};
  for (int64_t& stride : rows.strides) stride *= p.m * p.k;
  CopyView view{.dims = p.batch, .in_strides = p.a.batch_strides, .out_strides = rows.strides};
  view.dims.insert(view.dims.end(), {p.m, p.k});
  view.in_strides.insert(view.in_strides.end(), {1, p.a.ld});
  view.out_strides.insert(view.out_strides.end(), {p.k, 1});
  emit_copies(c, "transpose_a", sizeof(T), {{from, rows.buffer, std::move(view)}});
  return {std::move(rows), p.k};
}

/// A product of a few columns, one of a matrix and a vector among them, would compute panels of B that are nearly empty.
template <class T>
bool has_few_columns(const GemmKernelsOf<T>& gemm, const Product& p) {
  if (2 * p.n > gemm.panel_columns || p.m < gemm.panel_columns || p.a.sums || p.b.sums) return false;
  return !p.residual || (p.n == 1 && p.ldc == 1);
}

/// C' = B' A', which has A in panels instead. Into memory of its own, unless C is one dense column: then that is C' as well.
void transpose_product(LowerContext& c, Product& p) {
  using kernels::GemmBias;
  std::swap(p.a, p.b);
  std::swap(p.m, p.n);
  p.a.transposed = !p.a.transposed, p.b.transposed = !p.b.transposed;
  if (p.bias.kind == GemmBias::kColumn || p.bias.kind == GemmBias::kRow)
    p.bias.kind = p.bias.kind == GemmBias::kColumn ? GemmBias::kRow : GemmBias::kColumn;
  if (p.m > 1 || p.ldc != 1) {
    p.c = c.temporary(element_count(p.batch) * p.m * p.n * static_cast<int64_t>(size_of(p.type)));
    p.c_strides = strides_of(p.batch);
    for (int64_t& stride : p.c_strides) stride *= p.m * p.n;
  }
  p.ldc = p.n;
}

/// C, which is as `like` says, from the transpose of it that `p` has computed.
void emit_transposed_back(LowerContext& c, const Product& p, const Product& like) {
  CopyView view{.dims = p.batch, .in_strides = p.c_strides, .out_strides = like.c_strides};
  view.dims.insert(view.dims.end(), {p.n, p.m});
  view.in_strides.insert(view.in_strides.end(), {1, p.ldc});
  view.out_strides.insert(view.out_strides.end(), {like.ldc, 1});
  emit_copies(c, "transpose_product", size_of(p.type), {{p.c, like.c, std::move(view)}});
}

template <class T>
void emit_merged(LowerContext& c, const Product& p);

/// The product with operands of T.
template <class T>
void emit_product_of(LowerContext& c, Product p) {
  for (auto* strides : {&p.a.batch_strides, &p.b.batch_strides, &p.c_strides}) strides->resize(p.batch.size(), 0);
  merge_batch(p);
  batch_to_rows(p);
  if (!has_few_columns(gemm_of<T>(c), p)) return emit_merged<T>(c, p);
  const Product like = p;
  transpose_product(c, p);
  emit_merged<T>(c, p);
  if (p.m > 1 || like.ldc != 1) emit_transposed_back(c, p, like);
}

/// What a kernel gets to know beforehand of operands that lie as `a` and `b` say.
template <class T>
GemmArgsOf<T> gemm_args(const Product& p, const PackedOperand& a, const PackedOperand& b) {
  const BatchSplit split = split_batch(p);
  GemmArgsOf<T> args;
  args.m = p.m, args.n = p.n, args.k = p.k;
  args.batch = split.kernel;
  args.a_stride = inner_strides(a.strides);
  args.b_stride = inner_strides(b.strides);
  args.ldc = p.ldc;
  args.c_stride = inner_strides(p.c_strides);
  args.alpha = p.alpha;
  args.bias_kind = p.bias.kind;
  args.bias_scale = p.bias.scale;
  args.ld_residual = p.ldc;
  args.residual_stride = args.c_stride;
  args.residual_scale = p.residual_scale;
  args.activation = p.activation;
  return args;
}

struct MatricesStep {
  const char* name;
  int64_t each;  // tasks of the kernel's batch
  int64_t scratch;
};

/// A step of the kernel's batches, one for every index of the leading dimensions: run(args, begin, end, scratch).
template <class T, class RunKernel>
void emit_matrices(LowerContext& c, const Product& p, const PackedOperand& a, const PackedOperand& b, const MatricesStep& step,
                   RunKernel run_kernel) {
  const Dims leading = split_batch(p).leading;
  c.emit(step.name, step.each * element_count(leading),
         [=, args = gemm_args<T>(p, a, b), each = step.each, bias = p.bias.buffer, c_strides = p.c_strides, out = p.c,
          residual = p.residual](const Run& run, int64_t begin, int64_t end) -> const char* {
           for_each_matrix(each, begin, end, [&](int64_t outer, int64_t first, int64_t last) {
             GemmArgsOf<T> one = args;
             const int64_t c_offset = leading_offset(leading, c_strides, outer);
             one.a = run.get<const T>(a.buffer) + leading_offset(leading, a.strides, outer);
             one.b = run.get<const T>(b.buffer) + leading_offset(leading, b.strides, outer);
             one.c = run.get<T>(out) + c_offset;
             one.bias = run.get<const T>(bias);
             one.residual = residual ? run.get<const T>(residual) + c_offset : nullptr;
             run_kernel(one, first, last, run.scratch<void>());
           });
           return nullptr;
         },
         step.scratch);
}

/// The same when batch dimensions are merged.
template <class T>
void emit_merged(LowerContext& c, const Product& p) {
  const GemmKernelsOf<T>* gemm = &gemm_of<T>(c);
  if (reads_b_in_place(*gemm, p)) {
    GemmRowsArgsOf<T> args;
    args.ldb = p.b.ld, args.b_transposed = p.b.transposed;
    const PlainRows rows = p.b.transposed ? rows_of_a<T>(c, p) : PlainRows{pack_a<T>(c, p), 0};
    const PackedOperand& a = rows.operand;
    args.lda = rows.ld;
    const PackedOperand b{p.b.buffer, p.b.batch_strides};
    args.product = gemm_args<T>(p, a, b);
    const char* step = std::is_same_v<T, double> ? "gemm_rows_f64" : "gemm_rows_f32";
    return emit_matrices<T>(c, p, a, b, {step, gemm->rows.tasks(args), gemm->rows.scratch_bytes(args)},
                            [=](const GemmArgsOf<T>& product, int64_t begin, int64_t end, void* scratch) {
                              GemmRowsArgsOf<T> one = args;
                              one.product = product;
                              gemm->rows.run(one, begin, end, scratch);
                            });
  }
  const PackedOperand a = pack_a<T>(c, p), b = pack_b<T>(c, p);
  const GemmArgsOf<T> args = gemm_args<T>(p, a, b);
  emit_matrices<T>(c, p, a, b, {std::is_same_v<T, double> ? "gemm_f64" : "gemm_f32", gemm->gemm_tasks(args), gemm->gemm_scratch_bytes(args)},
                   gemm->gemm);
}

}  // namespace

bool can_sum_operand(const Product& product, const ProductOperand& operand) {
  const bool is_a = &operand == &product.a;
  if (operand.constant_input >= 0 || !product.batch.empty() || operand.transposed != is_a) return false;
  return !is_a || product.m > 1;  // one row is its own packed layout
}

Buffer pack_as_a(LowerContext& c, const Product& p) {
  return (p.type == DType::f64 ? pack_panels_of_a<double>(c, p) : pack_panels_of_a<float>(c, p)).buffer;
}

void emit_product(LowerContext& c, Product p) {
  if (p.type == DType::f64) emit_product_of<double>(c, std::move(p));
  else emit_product_of<float>(c, std::move(p));
}

}  // namespace svengine::ops
