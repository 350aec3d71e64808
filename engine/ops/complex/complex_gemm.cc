// ai.svengine.ComplexGemm: ONNX's Gemm of complex numbers, pairs in the last dimension: alpha A' B' + beta C, C broadcast to the result.
// alpha and beta are real; conjugate_a and conjugate_b make transA and transB conjugate transposes.
#include "engine/ops/broadcast.h"
#include "engine/ops/complex/complex_common.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"

namespace svengine::ops {
namespace {

Status infer_complex_gemm(InferContext& c) {
  SV_TRY(require_same_dtypes(c));
  for (size_t i = 0; i < 2; ++i) SV_TRY(require_rank(c, i, 3));
  SV_ASSIGN(const std::vector<Shape> shapes, complex_shapes(c, 0, c.has_input(2) ? 3 : 2));
  SV_ASSIGN(const Shape shape, matmul_shape(shapes[0], shapes[1], is_set(c.attributes(), "transA"), is_set(c.attributes(), "transB")));
  if (shapes.size() > 2) SV_TRY(require_broadcast_to(shapes[2], "C (without its pairs)", shape, "the result"));
  c.set(0, c.dtype(0), with_pairs(shape));
  return {};
}

Value* scaled(ExpandContext& c, Value* v, float factor) { return factor == 1 ? v : c.op("Mul", {v, c.number(factor, c.dtype(0))}); }

Status expand_complex_gemm(ExpandContext& c) {
  const Attributes& attributes = c.attributes();
  for (const int64_t rank : complex_ranks(c, c.has_input(2) ? 3 : 2))
    if (rank < 0) return {};
  const EinsumEquation equation = matrix_equation(2, 2, is_set(attributes, "transA"), is_set(attributes, "transB"));
  SV_ASSIGN(Value * y,
            complex_product(c, equation, {c.input(0), c.input(1)}, {is_set(attributes, "conjugate_a"), is_set(attributes, "conjugate_b")}));
  y = scaled(c, y, attributes.get_float("alpha", 1));
  const float beta = attributes.get_float("beta", 1);
  if (c.has_input(2) && beta != 0) y = c.op("Add", {y, scaled(c, c.input(2), beta)});
  c.set(0, y);
  return {};
}

}  // namespace

OpDef define_complex_gemm() {
  std::vector<AttributeDef> attributes{{"alpha", AttributeKind::kFloat, false, 1.0f}, {"beta", AttributeKind::kFloat, false, 1.0f}};
  for (const char* name : {"transA", "transB", "conjugate_a", "conjugate_b"}) attributes.push_back({name, AttributeKind::kInt, false, 0});
  return {
      .name = "ComplexGemm",
      .domain = kEngineDomain,
      .until = 1,
      .inputs = "A, B, C?",
      .attributes = std::move(attributes),
      .expand = expand_complex_gemm,
      .infer = infer_complex_gemm,
      .types = {{"T", kComplexParts, {0, 1, 2}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[9, 33, 2], float32[18, 33, 2], float32[18, 2]) {transB = 1, conjugate_b = 1, alpha = 0.5, beta = -2.0}"
                 "(float32[5, 7, 2], float32[7, 3, 2])"
                 "(float64[21, 5, 2], float64[21, 6, 2], float64[5, 1, 2]) {transA = 1, conjugate_a = 1}",
  };
}

}  // namespace svengine::ops
