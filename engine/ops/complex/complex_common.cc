#include "engine/ops/complex/complex_common.h"

#include <algorithm>
#include <numeric>

#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

bool holds(const std::vector<int>& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

/// An operand that is multiplied from the right, for the real product.
struct RightOperand {
  Value* value;
  std::vector<int> labels;  // in the order of `value`
  size_t rows = 0;          // of those that stand before the rows of the 2 x 2 matrices
};

/// Ordered as a product wants it: batch, then what is summed, then what is its own, so that no copy is made when it runs. One with a
/// diagonal stays as it is.
RightOperand order_operand(ExpandContext& c, const EinsumEquation& equation, size_t i, Value* value) {
  const std::vector<int>& labels = equation.terms[i];
  const auto kind = [&](int label) {
    const auto left_holds = [&](const std::vector<int>& term) { return holds(term, label); };
    const auto begin = equation.terms.begin(), at = begin + static_cast<int64_t>(i);
    if (std::none_of(begin, at, left_holds)) return 2;
    return holds(equation.output, label) || std::any_of(at + 1, equation.terms.end(), left_holds) ? 0 : 1;
  };
  for (const int label : labels)
    if (std::count(labels.begin(), labels.end(), label) > 1) return {value, labels, labels.size()};
  std::vector<int64_t> perm(labels.size());
  std::iota(perm.begin(), perm.end(), 0);
  std::stable_sort(perm.begin(), perm.end(),
                   [&](int64_t a, int64_t b) { return kind(labels[static_cast<size_t>(a)]) < kind(labels[static_cast<size_t>(b)]); });
  RightOperand out{value, {}, 0};
  for (const int64_t d : perm) {
    out.labels.push_back(labels[static_cast<size_t>(d)]);
    out.rows += kind(out.labels.back()) < 2;
  }
  if (!std::is_sorted(perm.begin(), perm.end())) {
    perm.push_back(static_cast<int64_t>(labels.size()));  // the pairs
    out.value = c.transpose(value, std::move(perm));
  }
  return out;
}

/// The conjugate of an operand that stands on the left.
Value* conjugated(ExpandContext& c, Value* v) {
  Value* signs = c.builder().constant(Tensor::of<float>({2}, std::vector<float>{1, -1}));
  return c.op("Mul", {v, c.cast(signs, v->type.dtype)});
}

}  // namespace

Result<std::vector<Shape>> complex_shapes(const InferContext& c, size_t first, size_t last) {
  std::vector<Shape> shapes;
  for (size_t i = first; i < last; ++i) {
    const Shape& shape = c.shape(i);
    shapes.emplace_back();
    if (!shape.has_rank()) continue;
    if (shape.rank() == 0 || known_different(shape.back(), Dim(2)))
      return error("{} is {}; its last dimension must be 2, real and imaginary part", c.described(i), to_string(shape));
    shapes.back() = Shape(std::vector<Dim>(shape.dims().begin(), shape.dims().end() - 1));
  }
  return shapes;
}

std::vector<int64_t> complex_ranks(const ExpandContext& c, size_t operands) {
  std::vector<int64_t> ranks;
  const auto holds_pairs = [](const Shape& s) { return s.has_rank() && s.rank() > 0 && s.back().is_static(); };
  for (size_t i = 0; i < operands; ++i) ranks.push_back(holds_pairs(c.shape(i)) ? c.shape(i).rank() - 1 : -1);
  return ranks;
}

Shape with_pairs(const Shape& shape) {
  if (!shape.has_rank()) return Shape();
  std::vector<Dim> dims = shape.dims();
  dims.push_back(Dim(2));
  return Shape(std::move(dims));
}

Result<Value*> complex_product(ExpandContext& c, const EinsumEquation& equation, const std::vector<Value*>& operands,
                               const std::vector<bool>& conjugate) {
  EinsumLetters letters(equation);
  SV_ASSIGN(std::string text, letters.term(equation.terms[0]));
  SV_ASSIGN(char parts, letters.unused());
  text += parts;
  std::vector<Value*> real{conjugate[0] ? conjugated(c, operands[0]) : operands[0]};
  for (size_t i = 1; i < operands.size(); ++i) {
    const RightOperand right = order_operand(c, equation, i, operands[i]);
    real.push_back(c.internal("ComplexMatrix", {right.value},
                              make_attributes({{"axis", static_cast<int64_t>(right.rows)}, {"conjugate", int64_t{conjugate[i]}}})));
    SV_ASSIGN(std::string term, letters.term(right.labels));
    SV_ASSIGN(const char next, letters.unused());
    text += "," + term.insert(right.rows, 1, parts) + next;
    parts = next;
  }
  SV_ASSIGN(const std::string output, letters.term(equation.output));
  return c.op("Einsum", std::move(real), make_attributes({{"equation", text + "->" + output + parts}}));
}

EinsumEquation matrix_equation(int64_t rank_a, int64_t rank_b, bool transpose_a, bool transpose_b) {
  EinsumEquation equation;
  const auto batch = [](int64_t rank) {
    std::vector<int> labels;
    for (int64_t d = rank - 2; d-- > 0;) labels.push_back(kEinsumEllipsis + static_cast<int>(d));
    return labels;
  };
  const auto operand = [&](int64_t rank, bool transposed, int rows, int columns, int alone) {
    std::vector<int> labels = batch(rank);
    if (rank == 1) labels.push_back(alone);
    else labels.insert(labels.end(), {transposed ? columns : rows, transposed ? rows : columns});
    return labels;
  };
  equation.terms = {operand(rank_a, transpose_a, 'm', 'k', 'k'), operand(rank_b, transpose_b, 'k', 'n', 'k')};
  equation.output = batch(std::max(rank_a, rank_b));
  if (rank_a > 1) equation.output.push_back('m');
  if (rank_b > 1) equation.output.push_back('n');
  return equation;
}

}  // namespace svengine::ops
