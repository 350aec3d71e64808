// ai.svengine.ComplexMatMul: numpy.matmul of complex numbers, pairs in the last dimension. Operands may be conjugated, and transposed in
// their last two dimensions (those before the pairs): BLAS's cgemm, cgemv, cdotu (two vectors) and cdotc (conjugate_a).
#include "engine/ops/complex/complex_common.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"

namespace svengine::ops {
namespace {

Status infer_complex_mat_mul(InferContext& c) {
  SV_TRY(require_same_dtypes(c));
  SV_ASSIGN(const std::vector<Shape> shapes, complex_shapes(c, 0, 2));
  const auto transposes = [&](size_t i, const char* name) { return shapes[i].rank() > 1 && is_set(c.attributes(), name); };
  SV_ASSIGN(const Shape shape, matmul_shape(shapes[0], shapes[1], transposes(0, "transpose_a"), transposes(1, "transpose_b")));
  c.set(0, c.dtype(0), with_pairs(shape));
  return {};
}

Status expand_complex_mat_mul(ExpandContext& c) {
  const std::vector<int64_t> ranks = complex_ranks(c, 2);
  if (ranks[0] < 0 || ranks[1] < 0) return {};
  const EinsumEquation equation = matrix_equation(ranks[0], ranks[1], is_set(c.attributes(), "transpose_a"), is_set(c.attributes(), "transpose_b"));
  SV_ASSIGN(Value * y, complex_product(c, equation, {c.input(0), c.input(1)},
                                       {is_set(c.attributes(), "conjugate_a"), is_set(c.attributes(), "conjugate_b")}));
  c.set(0, y);
  return {};
}

}  // namespace

OpDef define_complex_mat_mul() {
  std::vector<AttributeDef> attributes;
  for (const char* name : {"transpose_a", "transpose_b", "conjugate_a", "conjugate_b"}) attributes.push_back({name, AttributeKind::kInt, false, 0});
  return {
      .name = "ComplexMatMul",
      .domain = kEngineDomain,
      .until = 1,
      .inputs = "A, B",
      .attributes = std::move(attributes),
      .expand = expand_complex_mat_mul,
      .infer = infer_complex_mat_mul,
      .types = {{"T", kComplexParts, {0, 1}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[9, 33, 2], float32[33, 18, 2])"
                 "(float32[3, 17, 9, 2], float32[2, 1, 8, 17, 2]) {transpose_a = 1, transpose_b = 1, conjugate_a = 1}"
                 "(float32[40, 2], float32[40, 2]) {conjugate_a = 1}"
                 "(float32[65, 40, 2], float32[40, 2]) {conjugate_b = 1}"
                 "(float32[7, 2], float32[4, 7, 5, 2])"
                 "(float64[5, 21, 2], float64[6, 21, 2]) {transpose_b = 1}",
  };
}

}  // namespace svengine::ops
