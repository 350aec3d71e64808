// ai.svengine.ComplexEinsum: Einsum of complex numbers, pairs in the last dimension, of which the equation says nothing. Attribute `conjugate`
// has a number for each operand, not 0 where its conjugate is meant; absent: none.
#include "engine/ops/complex/complex_common.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

Status infer_complex_einsum(InferContext& c) {
  for (size_t i = 0; i < c.input_count(); ++i) SV_TRY(require_dtype(c, i, kComplexParts));
  SV_TRY(require_same_dtypes(c));
  const auto* conjugate = c.attributes().get<std::vector<int64_t>>("conjugate");
  if (conjugate && !conjugate->empty() && conjugate->size() != c.input_count())
    return error("conjugate has {} numbers for {} operands", conjugate->size(), c.input_count());
  SV_ASSIGN(const std::vector<Shape> shapes, complex_shapes(c, 0, c.input_count()));
  std::vector<int64_t> ranks;
  bool known = true;
  for (const Shape& shape : shapes) {
    ranks.push_back(shape.has_rank() ? shape.rank() : -1);
    known = known && shape.has_rank();
  }
  const std::string& text = c.attributes().get_string("equation");
  if (!known) return c.set(0, c.dtype(0), Shape()), Status();
  SV_ASSIGN(const EinsumEquation equation, einsum_equation(text, ranks));
  for (const auto& term : equation.terms)
    for (const int label : term) SV_TRY(einsum_size(equation, shapes, label));
  std::vector<Dim> dims;
  for (const int label : equation.output) {
    SV_ASSIGN(dims.emplace_back(), einsum_size(equation, shapes, label));
  }
  c.set(0, c.dtype(0), with_pairs(Shape(std::move(dims))));
  return {};
}

Status expand_complex_einsum(ExpandContext& c) {
  const std::vector<Value*>& operands = c.node().inputs();
  const std::vector<int64_t> ranks = complex_ranks(c, operands.size());
  for (const int64_t rank : ranks)
    if (rank < 0) return {};
  SV_ASSIGN(const EinsumEquation equation, einsum_equation(c.attributes().get_string("equation"), ranks));
  std::vector<bool> conjugate(operands.size());
  if (const auto* given = c.attributes().get<std::vector<int64_t>>("conjugate"))
    for (size_t i = 0; i < given->size(); ++i) conjugate[i] = (*given)[i] != 0;
  SV_ASSIGN(Value * y, complex_product(c, equation, operands, conjugate));
  c.set(0, y);
  return {};
}

}  // namespace

OpDef define_complex_einsum() {
  return {
      .name = "ComplexEinsum",
      .domain = kEngineDomain,
      .until = 1,
      .inputs = "Inputs...",
      .attributes = {{"equation", AttributeKind::kString, true}, {"conjugate", AttributeKind::kInts}},
      .expand = expand_complex_einsum,
      .infer = infer_complex_einsum,
      .types = {{"T", kComplexParts, {0}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = R"((float32[5, 17, 2], float32[9, 17, 2]) {equation = "ij,kj->ik", conjugate = [0, 1]})"
                 R"((float32[2, 7, 3, 11, 2], float32[2, 6, 3, 11, 2]) {equation = "bqhd,bkhd->bhqk"})"
                 R"((float32[4, 5, 6, 2], float32[5, 3, 2], float32[6, 7, 3, 2]) {equation = "abc,bd,ced->ea", conjugate = [1, 0, 1]})"
                 R"((float32[3, 4, 4, 2], float32[4, 4, 2]) {equation = "...ij,jj"})"
                 R"((float32[6, 6, 2]) {equation = "ii->"})"
                 R"((float32[5, 2], float32[8, 2]) {equation = "i,j->ji"})"
                 R"((float64[4, 30, 2], float64[30, 5, 2]) {equation = "ij,jk"})",
  };
}

}  // namespace svengine::ops
