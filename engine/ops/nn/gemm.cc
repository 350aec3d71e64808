// Gemm: alpha * A' * B' + beta * C, C broadcasting to the result.
#include "engine/graph/gradient.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

Status canonicalize_gemm(CanonicalizeContext& c) {
  c.attributes().erase("broadcast");  // opset 6: C's unidirectional broadcast had to be asked for
  return {};
}

Status infer_gemm(InferContext& c) {
  for (size_t i = 0; i < 2; ++i) SV_TRY(require_rank(c, i, 2));
  SV_ASSIGN(Shape shape, matmul_shape(c.shape(0), c.shape(1), c.attributes().get_int("transA"), c.attributes().get_int("transB")));
  if (c.has_input(2)) SV_TRY(require_broadcast_to(c, 2, shape, "the result"));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

/// C's place in the epilogue: a bias over columns or rows, one number, or a full matrix.
void set_addend(LowerContext& c, Product& p) {
  const float beta = c.attributes().get_float("beta", 1.0f);
  if (!c.has_input(2) || beta == 0) return;
  const Dims dims = c.in_dims(2);
  const int64_t rows = dims.size() == 2 ? dims[0] : 1, columns = dims.empty() ? 1 : dims.back();
  using kernels::GemmBias;
  if (rows == p.m && columns == p.n && rows > 1 && columns > 1) {
    p.residual = c.in(2);
    p.residual_scale = beta;
    return;
  }
  const GemmBias kind = rows == 1 && columns == 1 ? GemmBias::kOne : rows == 1 ? GemmBias::kColumn : GemmBias::kRow;
  p.bias = {c.in(2), kind, beta};
}

Status lower_gemm(LowerContext& c) {
  Product p = matmul_of(c, c.attributes().get_int("transA"), c.attributes().get_int("transB"));
  p.alpha = c.attributes().get_float("alpha", 1.0f);
  if (!kProductTypes.has(c.in_type(0).dtype)) {
    const float alpha = p.alpha;
    wide::emit_product(c, std::move(p), alpha, c.attributes().get_float("beta", 1.0f));
    return {};
  }
  set_addend(c, p);
  emit_product(c, std::move(p));
  return {};
}

Value* gemm_product(GradientContext& c, Value* a, bool transpose_a, Value* b, bool transpose_b) {
  return c.op(
      "Gemm", {a, b},
      make_attributes(
          {{"transA", int64_t{transpose_a}}, {"transB", int64_t{transpose_b}}, {"alpha", c.attributes().get_float("alpha", 1.0f)}}));
}

/// With A' and B' what is multiplied: dA' = alpha dY B'^T and dB' = alpha A'^T dY, or these transposed.
Status gemm_gradient(GradientContext& c) {
  Value *a = c.input(0), *b = c.input(1), *dy = c.dy();
  const bool across_a = c.attributes().get_int("transA") != 0, across_b = c.attributes().get_int("transB") != 0;
  if (c.wants(0)) c.set(0, across_a ? gemm_product(c, b, across_b, dy, true) : gemm_product(c, dy, false, b, !across_b));
  if (c.wants(1)) c.set(1, across_b ? gemm_product(c, dy, true, a, across_a) : gemm_product(c, a, !across_a, dy, false));
  if (!c.wants(2)) return {};
  const float beta = c.attributes().get_float("beta", 1.0f);
  Value* addend = c.sum_to(dy, c.input(2));
  c.set(2, beta == 1.0f ? addend : c.op("Mul", {addend, c.scalar(beta, dy)}));
  return {};
}

}  // namespace

OpDef define_gemm() {
  return {
      .name = "Gemm",
      .inputs = "A, B, C?",
      .attributes = {{"alpha", AttributeKind::kFloat, false, 1.0f},
                     {"beta", AttributeKind::kFloat, false, 1.0f},
                     {"transA", AttributeKind::kInt, false, 0},
                     {"transB", AttributeKind::kInt, false, 0}},
      .canonicalize = canonicalize_gemm,
      .infer = infer_gemm,
      .lower = lower_gemm,
      .types = {{"T", kWideTypes, {0, 1, 2}}},
      .cost = matmul_cost,
      .gradient = gemm_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[5, 33], float32[33, 18], float32[18])"
                 "(float32[33, 5], float32[18, 33], float32[5, 1]) {transA = 1, transB = 1, alpha = 0.5, beta = -2.0}"
                 "(float32[5, 33], float32[18, 33], float32[5, 18]) {transB = 1}"
                 "(float32[1, 64], float32[64, 10], float32[])"
                 "(float32[21, 70], float32[2, 21], float32[70, 1]) {transA = 1, transB = 1}"
                 "(float64[50, 9], float64[9, 1], float64[50, 1])"
                 "(float64[33, 65], float64[18, 33], float64[65, 1]) {transA = 1, transB = 1, alpha = 0.5, beta = -2.0}"
                 "(int32[3, 5] -9 to 9, int32[5, 2] -9 to 9, int32[2] -9 to 9)"
                 "(uint64[3, 5] 0 to 9, uint64[5, 2] 0 to 9) {alpha = 0.5}"
                 "(bfloat16[3, 5], bfloat16[5, 2], bfloat16[2])",
  };
}

}  // namespace svengine::ops
