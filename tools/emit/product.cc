// MatMul, Gemm and the product that fusion makes of them: activation(alpha A B + beta C + residual).
#include <cstring>
#include <memory>

#include "engine/ops/broadcast.h"
#include "tools/emit/formulas.h"
#include "tools/emit/table.h"
#include "tools/emit/tile.h"

namespace svengine::tool::emit {
namespace {

/// C[batch] = A[batch] B[batch], and what follows.
struct ProductOf {
  Dims batch, a_batch, b_batch;  // of the result and of the operands
  int64_t m = 1, n = 1, k = 1;
  int64_t a_row = 0, a_step = 0, b_step = 0, b_column = 0;  // strides in elements
  double alpha = 1, beta = 1;
};

/// A matrix operand: batch dimensions, and those of the matrix; a vector is a row (of A) or a column (of B).
std::pair<Dims, Dims> matrices(Dims dims, bool is_a) {
  if (dims.size() == 1) return {{}, is_a ? Dims{1, dims[0]} : Dims{dims[0], 1}};
  const Dims matrix(dims.end() - 2, dims.end());
  dims.resize(dims.size() - 2);
  return {std::move(dims), matrix};
}

ProductOf product_of(const NodeContext& c) {
  ProductOf p;
  const bool gemm = c.node().op().name == std::string_view("Gemm");
  const bool across_a = c.attributes().get_int(gemm ? "transA" : "transpose_a") != 0;
  const bool across_b = c.attributes().get_int(gemm ? "transB" : "transpose_b") != 0;
  const auto [a_batch, a] = matrices(c.in_dims(0), true);
  const auto [b_batch, b] = matrices(c.in_dims(1), false);
  p.a_batch = a_batch, p.b_batch = b_batch;
  p.m = a[across_a ? 1 : 0], p.k = a[across_a ? 0 : 1], p.n = b[across_b ? 0 : 1];
  p.a_row = across_a ? 1 : a[1], p.a_step = across_a ? a[1] : 1;
  p.b_step = across_b ? 1 : b[1], p.b_column = across_b ? b[1] : 1;
  for (size_t i = 0, rank = std::max(a_batch.size(), b_batch.size()); i < rank; ++i) {
    const auto dim = [&](const Dims& d) { return i + d.size() < rank ? int64_t{1} : d[i + d.size() - rank]; };
    p.batch.push_back(dim(a_batch) == 1 ? dim(b_batch) : dim(a_batch));
  }
  p.alpha = c.attributes().get_float("alpha", 1), p.beta = gemm ? c.attributes().get_float("beta", 1) : 1;
  // One B for all: the batch is rows of A where these lie evenly.
  if (element_count(p.b_batch) == 1 && !across_a) {
    p.m *= element_count(p.batch);
    p.batch = p.a_batch = p.b_batch = {};
  }
  return p;
}

/// Matrices with rows and columns exchanged.
Tensor transposed(const Tensor& t, int64_t batch, int64_t rows, int64_t columns) {
  const size_t width = size_of(t.type());
  auto bytes = std::make_shared<std::vector<std::byte>>(t.byte_size());
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < columns; ++j)
        std::memcpy(bytes->data() + static_cast<size_t>((b * columns + j) * rows + r) * width,
                    t.raw() + static_cast<size_t>((b * rows + r) * columns + j) * width, width);
  const std::byte* data = bytes->data();
  return Tensor::wrap(t.type(), t.dims(), data, std::move(bytes));
}

/// What is added to element [i][j] of matrix [batch] and done to it.
class Epilogue {
 public:
  Epilogue(NodeContext& c, const ProductOf& p) : c_(c), p_(p), type_(c.out_type()) {
    if (c.has_input(2) && p.beta != 0) {
      const Dims result = c.out_dims();
      // Of a FusedMatMul it is one row, of a Gemm anything that broadcasts to a matrix.
      const auto rank = std::min<ptrdiff_t>(2, static_cast<ptrdiff_t>(result.size()));
      addend_ = ops::broadcast_strides(c.in_dims(2), Dims(result.end() - rank, result.end()));
    }
  }

  /// `index` is that of the result, `row` and `column` those in the matrix.
  void store(const std::string& sum, const std::string& row, const std::string& column, const std::string& index) const {
    Code& code = c_.code();
    std::string value = p_.alpha == 1 ? sum : fmt::format("{} * {}", c_number(p_.alpha, type_), sum);
    if (c_.has_input(2) && p_.beta != 0) {
      const std::string element = c_.element(2, place(row, column));
      value += p_.beta == 1 ? fmt::format(" + {}", element) : fmt::format(" + {} * {}", c_number(p_.beta, type_), element);
    }
    if (c_.has_input(3)) value += fmt::format(" + {}", c_.element(3, index));
    const std::string result = activated(code, c_.node(), type_, value);
    code.line("{}[{}] = {};", c_.out(), index, result);
  }

 private:
  std::string place(const std::string& row, const std::string& column) const {
    const int64_t by_column = addend_.empty() ? 0 : addend_.back(), by_row = addend_.size() < 2 ? 0 : addend_[addend_.size() - 2];
    std::string out = by_column ? fmt::format("({}) * {}", column, by_column) : "0";
    if (by_row) out += fmt::format(" + ({}) * {}", row, by_row);
    return out;
  }

  NodeContext& c_;
  const ProductOf& p_;
  DType type_;
  Strides addend_;
};

/// Few columns: sums along rows of A and columns of B, each of which lies in one piece.
constexpr int64_t kFewColumns = 8;

bool has_few_columns(const NodeContext& c, const ProductOf& p) {
  return p.n <= kFewColumns && p.a_step == 1 && (p.b_step == 1 || c.constant(1));
}

/// The pointer to B with its columns in one piece.
std::string columns_of(NodeContext& c, const ProductOf& p) {
  if (p.b_step == 1) return c.in(1);
  return c.array(transposed(*c.constant(1), element_count(p.b_batch), p.k, p.n));
}

void emit_columns(NodeContext& c, const ProductOf& p, const Epilogue& epilogue, const std::string& a, const std::string& b, const std::string& y) {
  Code& code = c.code();
  code.loop("r", p.m);
  code.loop("j", p.n);
  code.line("const {} s = {}({} + r * {}, {} + j * {}, {});", c_type(c.out_type()), c.helper("dot", c.out_type()), a, p.a_row, b, p.k, p.k);
  epilogue.store("s", "r", "j", fmt::format("{} + r * {} + j", y, p.n));
  code.close(2);
}

void emit_matrix(NodeContext& c, const ProductOf& p, const Epilogue& epilogue, const Panels& panels, const std::string& a, const std::string& b,
                 const std::string& y) {
  Code& code = c.code();
  Tile tile{.type = c.out_type(), .columns = panels.columns, .steps = {{p.k, p.a_step}},
            .panel = fmt::format("{} + p * {}", b, p.k * panels.columns)};
  if (p.n % panels.columns == 0) tile.valid = panels.columns;
  else code.line("const ptrdiff_t n = {};", p.n);
  code.loop("p", panels.count);
  if (!tile.valid) code.line("const ptrdiff_t width = n - p * {0} < {0} ? n - p * {0} : {0};", panels.columns);
  const auto rows = [&](const std::string& first, int64_t count) {
    tile.row = [&](int64_t r) { return fmt::format("{} + ({} + {}) * {}", a, first, r, p.a_row); };
    tile.store = [&](int64_t r, const std::string& sum) {
      const std::string row = fmt::format("{} + {}", first, r), column = fmt::format("p * {} + j", panels.columns);
      epilogue.store(sum, row, column, fmt::format("{} + ({}) * {} + {}", y, row, p.n, column));
    };
    emit_tile(code, tile, count);
  };
  const int64_t whole = p.m / panels.rows * panels.rows;
  if (whole > 0) {
    code.open("for (ptrdiff_t r = 0; r < {}; r += {})", whole, panels.rows);
    rows("r", panels.rows);
    code.close();
  }
  if (whole < p.m) {
    code.open("");
    rows(fmt::format("{}", whole), p.m - whole);
    code.close();
  }
  code.close();
}

}  // namespace

Status emit_product(NodeContext& c) {
  const ProductOf p = product_of(c);
  const int64_t a_size = p.m * p.k, b_size = p.k * p.n;
  const Epilogue epilogue(c, p);
  Panels panels;
  const bool few = has_few_columns(c, p);
  if (!few) panels = make_panels(c, 1, {.batch = element_count(p.b_batch), .n = p.n, .steps = p.k, .batch_stride = b_size,
                                           .n_stride = p.b_column, .step_stride = p.b_step}, p.m);
  Nest nest{p.batch, {ops::broadcast_strides(p.a_batch, p.batch), ops::broadcast_strides(p.b_batch, p.batch), dense_strides(p.batch)}};
  nest = merged(std::move(nest));
  const auto scaled = [&](size_t operand, int64_t by) {
    Strides s = nest.operands[operand];
    for (int64_t& stride : s) stride *= by;
    return element_of(s);
  };
  open_loops(c.code(), nest.sizes);
  const std::string a = fmt::format("{} + {}", c.in(0), scaled(0, a_size)), y = scaled(2, p.m * p.n);
  if (few) emit_columns(c, p, epilogue, a, fmt::format("{} + {}", columns_of(c, p), scaled(1, b_size)), y);
  else emit_matrix(c, p, epilogue, panels, a, fmt::format("{} + {}", panels.name, scaled(1, panels.batch_size)), y);
  close_loops(c.code(), nest.sizes);
  c.count_multiply_adds(element_count(p.batch) * p.m * p.n * p.k);
  return {};
}

}  // namespace svengine::tool::emit
