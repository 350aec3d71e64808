// svengine.ComplexMatrix: of every complex number z of x [..., 2] the real matrix that multiplies by it, row 0 being z and row 1 i z. The rows are
// a dimension of 2 before dimension `axis`. With conjugate, of z's conjugate. Added by expansions, see complex_common.h.
#include "engine/graph/gradient.h"
#include "engine/ops/complex/complex_common.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/wide/items.h"

namespace svengine::ops {
namespace {

Status infer_complex_matrix(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kComplexParts));
  SV_ASSIGN(const std::vector<Shape> shapes, complex_shapes(c, 0, 1));
  if (!shapes[0].has_rank()) return c.set(0, c.dtype(0), Shape()), Status();
  const int64_t axis = c.attributes().get_int("axis");
  if (axis < 0 || axis > shapes[0].rank()) return error("axis is {}, must be 0 to {} for {}", axis, shapes[0].rank(), to_string(c.shape(0)));
  std::vector<Dim> dims = c.shape(0).dims();
  dims.insert(dims.begin() + axis, Dim(2));
  c.set(0, c.dtype(0), Shape(std::move(dims)));
  return {};
}

/// Numbers [begin, end) of x, [outer, inner, 2], into y, [outer, 2, inner, 2].
template <class T>
void write_rows(const T* x, T* y, int64_t inner, T sign, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end;) {
    const int64_t row = i / inner, count = std::min(end, (row + 1) * inner) - i, at = i - row * inner;
    const T* from = x + 2 * i;
    T *z = y + 2 * (2 * row * inner + at), *iz = z + 2 * inner;
    for (int64_t k = 0; k < count; ++k) {
      const T re = from[2 * k], im = sign * from[2 * k + 1];
      z[2 * k] = re, z[2 * k + 1] = im;
      iz[2 * k] = -im, iz[2 * k + 1] = re;
    }
    i += count;
  }
}

template <class T>
void emit_complex_matrix(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const int64_t numbers = element_count(dims) / 2;
  const auto axis = static_cast<size_t>(c.attributes().get_int("axis"));
  const int64_t inner = element_count(std::span<const int64_t>(dims).subspan(axis)) / 2;
  const T sign = c.attributes().get_int("conjugate") != 0 ? T{-1} : T{1};
  wide::emit_items(c, "complex_matrix", numbers, wide::items_of_work(4),
                   [=, in = c.in(0), out = c.out()](const Run& run, int64_t begin, int64_t end) {
                     write_rows(run.get<const T>(in), run.get<T>(out), inner, sign, begin, end);
                   });
}

Status lower_complex_matrix(LowerContext& c) {
  if (c.in_type(0).dtype == DType::f64) emit_complex_matrix<double>(c);
  else emit_complex_matrix<float>(c);
  return {};
}

/// dx = dy[row 0] - i dy[row 1], conjugated where x was.
Status complex_matrix_gradient(GradientContext& c) {
  if (!c.wants(0)) return {};
  const Shape& x = c.input(0)->type.shape;
  if (!x.has_rank()) return error("the gradient needs a known rank");
  const float s = c.attributes().get_int("conjugate") != 0 ? -1.0f : 1.0f;
  // [row][part of dy][part of dx]
  const std::vector<float> parts{1, 0, 0, s, 0, -s, 1, 0};
  Value* table = c.builder().constant(Tensor::of<float>({2, 2, 2}, parts));
  if (const DType type = c.dy()->type.dtype; type != DType::f32) table = c.op("Cast", {table}, make_attributes({{"to", static_cast<int64_t>(type)}}));
  EinsumEquation equation;
  equation.terms.emplace_back();
  for (int64_t d = 0; d < x.rank() - 1; ++d) equation.terms[0].push_back(kEinsumEllipsis + static_cast<int>(d));
  EinsumLetters letters(equation);
  SV_ASSIGN(const std::string numbers, letters.term(equation.terms[0]));
  SV_ASSIGN(const char row, letters.unused());
  SV_ASSIGN(const char from, letters.unused());
  SV_ASSIGN(const char to, letters.unused());
  const std::string rows = std::string(numbers).insert(static_cast<size_t>(c.attributes().get_int("axis")), 1, row);
  c.set(0, c.op("Einsum", {c.dy(), table},
                make_attributes({{"equation", rows + from + "," + row + from + to + "->" + numbers + to}})));
  return {};
}

Cost complex_matrix_cost(const Node& node) {
  return {.flops = 0, .bytes = stored_bytes(node.input(0)->type) + stored_bytes(node.output()->type)};
}

}  // namespace

OpDef define_complex_matrix() {
  return {
      .name = "ComplexMatrix",
      .domain = kInternalDomain,
      .inputs = "x",
      .attributes = {{"axis", AttributeKind::kInt, false, 0}, {"conjugate", AttributeKind::kInt, false, 0}},
      .infer = infer_complex_matrix,
      .lower = lower_complex_matrix,
      .types = {{"T", kComplexParts, {0}}},
      .cost = complex_matrix_cost,
      .gradient = complex_matrix_gradient,
      .samples = "(float32[7, 5, 2]) {axis = 1}"
                 "(float32[3, 2]) {axis = 1, conjugate = 1}"
                 "(float64[2, 3, 19, 2]) {conjugate = 1}",
  };
}

}  // namespace svengine::ops
