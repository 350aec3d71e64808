// Products of MatMul and Gemm.
#include "engine/ops/wide/product_tile.h"

#include "engine/base/whole.h"
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

template <class S, class U>
void emit_product_of(LowerContext& c, Product p, float alpha, float beta) {
  const Addend addend = addend_of(c, p, beta);
  const int64_t down = ceil_div(p.m, kTile), across = ceil_div(p.n, kTile), matrices = element_count(p.batch);
  for (ProductOperand* o : {&p.a, &p.b})
    if (o->constant_input >= 0) o->buffer = c.in(static_cast<size_t>(o->constant_input));
  emit_items(
      c, "product", matrices * down * across, 1,
      [=](const Run& run, int64_t begin, int64_t end) {
        TileMemory<U>& memory = *run.scratch<TileMemory<U>>();
        for (int64_t task = begin; task < end; ++task) {
          const int64_t matrix = task / (down * across), row = task / across % down * kTile, column = task % across * kTile;
          const int64_t rows = std::min(kTile, p.m - row), columns = std::min(kTile, p.n - column);
          const auto fill = [](const S* from, const ProductOperand& o, bool along_rows, int64_t first) {
            const int64_t step = along_rows != o.transposed ? o.ld : 1, deeper = along_rows != o.transposed ? 1 : o.ld;
            return [=](int64_t k, int64_t extent, U* to) {
              const S* at = from + first * step + k * deeper;
              for (int64_t i = 0; i < extent; ++i) to[i] = static_cast<U>(at[i * step]);
            };
          };
          product_tile(memory, rows, columns, p.k,
                       fill(run.get<const S>(p.a.buffer) + batch_offset(p.batch, p.a.batch_strides, matrix), p.a, true, row),
                       fill(run.get<const S>(p.b.buffer) + batch_offset(p.batch, p.b.batch_strides, matrix), p.b, false, column));
          S* out = run.get<S>(p.c) + batch_offset(p.batch, p.c_strides, matrix);
          const S* more = run.get<const S>(addend.buffer);
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j)
              out[(row + i) * p.ldc + column + j] =
                  scaled<S, U>(memory.sums[i * kTile + j], alpha,
                               more ? more + (row + i) * addend.row + (column + j) * addend.column : nullptr, addend.beta);
        }
      },
      sizeof(TileMemory<U>));
}

}  // namespace

void emit_product(LowerContext& c, Product product, float alpha, float beta) {
  switch (product.type) {
    case DType::f64:
      return emit_product_of<double, double>(c, std::move(product), alpha, beta);
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
