// Products of MatMul and Gemm.
#include <algorithm>

#include "engine/base/whole.h"
#include "engine/kernels/quantized.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/tensor/copy_common.h"
#include "engine/ops/wide/items.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops::wide {
namespace {

/// Offset of batch entry `index`, counted row-major over `dims`.
int64_t batch_offset(const Dims& dims, const std::vector<int64_t>& strides, int64_t index) {
  int64_t offset = 0;
  for (size_t i = dims.size(); i-- > 0; index /= dims[i]) offset += index % dims[i] * strides[i];
  return offset;
}

/// What is added to a result: element (i, j) at i * row + j * column; absent: nothing.
struct Addend {
  Buffer buffer;
  int64_t row = 0, column = 0;
  double beta = 1;
};

Addend addend_of(LowerContext& c, const Product& p, float beta) {
  if (!c.has_input(2) || beta == 0) return {};
  const std::vector<int64_t> strides = broadcast_strides(c.in_dims(2), {p.m, p.n});
  return {c.in(2), strides[0], strides[1], beta};
}

/// Sums to results. S: how results are stored; integers are summed as the unsigned U.
template <class S, class U>
S scaled(U sum, double alpha, const S* addend, double beta) {
  if (alpha == 1 && beta == 1) return static_cast<S>(sum + (addend ? static_cast<U>(*addend) : U(0)));
  const double result = alpha * static_cast<double>(static_cast<S>(sum)) + (addend ? beta * static_cast<double>(*addend) : 0);
  if constexpr (std::is_floating_point_v<S>)
    return result;
  else
    return whole_within_limits<S>(result);
}

/// Scales the rows [begin, end) of a matrix and adds to them.
template <class S, class U>
void finish_rows(const Product& p, double alpha, const Addend& addend, const S* more, S* out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      S& y = out[i * p.ldc + j];
      y = scaled<S, U>(static_cast<U>(y), alpha, more ? more + i * addend.row + j * addend.column : nullptr, addend.beta);
    }
}

template <class S, class U>
void emit_product_of(LowerContext& c, Product p, float alpha, float beta) {
  const Addend addend = addend_of(c, p, beta);
  const int64_t matrices = element_count(p.batch);
  if (matrices == 0 || p.m == 0 || p.n == 0) return;
  for (ProductOperand* o : {&p.a, &p.b})
    if (o->constant_input >= 0) o->buffer = c.in(static_cast<size_t>(o->constant_input));
  const auto& kernel = c.kernels().quantized->integer_gemm;
  kernels::IntegerGemmArgs args{.m = p.m, .n = p.n, .k = p.k, .element_bytes = static_cast<int32_t>(sizeof(S)), .ldc = p.ldc};
  args.a_row = p.a.transposed ? 1 : p.a.ld, args.a_depth = p.a.transposed ? p.a.ld : 1;
  args.b_depth = p.b.transposed ? 1 : p.b.ld, args.b_column = p.b.transposed ? p.b.ld : 1;
  const int64_t each = kernel.tasks(args);
  c.emit(
      "integer_product", matrices * each,
      [=, run_kernel = kernel.run](const Run& run, int64_t begin, int64_t end) -> const char* {
        for (int64_t t = begin; t < end;) {
          const int64_t matrix = t / each, first = t % each, last = std::min(each, first + end - t);
          kernels::IntegerGemmArgs one = args;
          one.a = run.get<const S>(p.a.buffer) + batch_offset(p.batch, p.a.batch_strides, matrix);
          one.b = run.get<const S>(p.b.buffer) + batch_offset(p.batch, p.b.batch_strides, matrix);
          one.c = run.get<S>(p.c) + batch_offset(p.batch, p.c_strides, matrix);
          run_kernel(one, first, last, run.scratch<void>());
          t += last - first;
        }
        return nullptr;
      },
      kernel.scratch_bytes(args));
  if (alpha == 1 && !addend.buffer) return;
  emit_items(c, "integer_addend", matrices * p.m, items_of_work(p.n), [=](const Run& run, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      S* out = run.get<S>(p.c) + batch_offset(p.batch, p.c_strides, row / p.m);
      finish_rows<S, U>(p, alpha, addend, run.get<const S>(addend.buffer), out, row % p.m, row % p.m + 1);
    }
  });
}

}  // namespace

void emit_product(LowerContext& c, Product product, float alpha, float beta) {
  switch (product.type) {
    case DType::i32:
      return emit_product_of<int32_t, uint32_t>(c, std::move(product), alpha, beta);
    case DType::u32:
      return emit_product_of<uint32_t, uint32_t>(c, std::move(product), alpha, beta);
    case DType::i64:
      return emit_product_of<int64_t, uint64_t>(c, std::move(product), alpha, beta);
    default:
      return emit_product_of<uint64_t, uint64_t>(c, std::move(product), alpha, beta);
  }
}

}  // namespace svengine::ops::wide
