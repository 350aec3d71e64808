// com.microsoft's QGemm: alpha (A' - a_zero_point) (B' - b_zero_point) + C, C being int32 of scale alpha a_scale b_scale, quantised by
// y_scale and y_zero_point, or as float32 where these are absent.
#include "engine/ops/broadcast.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/quantized/counted_inputs.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kGemmA = 0, kGemmB = 3, kGemmC = 6, kGemmScale = 7, kGemmZero = 8;

Status infer_q_gemm(InferContext& c) {
  SV_TRY(require_bytes(c, kGemmA));
  SV_TRY(require_bytes(c, kGemmB));
  SV_TRY(require_rank(c, kGemmA, 2));
  SV_TRY(require_rank(c, kGemmB, 2));
  SV_TRY(require_zero_of(c, 2, kGemmA));
  SV_TRY(require_zero_of(c, 5, kGemmB));
  for (size_t i : {size_t{1}, size_t{4}, kGemmScale}) SV_TRY(require_dtype(c, i, {DType::f32}));
  const bool a_transposed = c.attributes().get_int("transA"), b_transposed = c.attributes().get_int("transB");
  SV_TRY(check_counts(c, {.a = kGemmA,
                          .b = kGemmB,
                          .of_columns = {4, 5},
                          .single = {1, 2, kGemmScale, kGemmZero},
                          .b_transposed = b_transposed,
                          .a_transposed = a_transposed}));
  SV_ASSIGN(Shape shape, matmul_shape(c.shape(kGemmA), c.shape(kGemmB), a_transposed, b_transposed));
  if (c.has_input(kGemmC)) {
    SV_TRY(require_dtype(c, kGemmC, {DType::i32}));
    SV_TRY(require_broadcast_to(c, kGemmC, shape, "the result"));
  }
  if (c.has_input(kGemmZero) && !c.has_input(kGemmScale)) return error("y_zero_point needs y_scale");
  SV_TRY(require_bytes(c, kGemmZero));
  c.set(0, c.has_input(kGemmZero) ? c.dtype(kGemmZero) : c.has_input(kGemmScale) ? c.dtype(kGemmA) : DType::f32, std::move(shape));
  return {};
}

/// A by rows.
Buffer emit_transposed(LowerContext& c, int64_t m, int64_t k) {
  if (!c.attributes().get_int("transA")) return c.in(kGemmA);
  const Buffer transposed = c.temporary(std::max<int64_t>(m * k, 1));
  if (m * k > 0)
    emit_copies(c, "transpose", 1, {{c.in(kGemmA), transposed, CopyView{.dims = {m, k}, .in_strides = {1, m}, .out_strides = {k, 1}}}});
  return transposed;
}

/// C as one row for all, or as a row for each.
void set_bias(LowerContext& c, IntegerProduct& p) {
  Dims dims = c.in_dims(kGemmC);
  dims.insert(dims.begin(), 2 - dims.size(), 1);
  const int64_t rows = dims[0] == 1 ? 1 : p.m;
  p.epilogue.bias_ld = rows == 1 ? 0 : p.n;
  p.epilogue.bias = c.in(kGemmC);
  if (dims[1] == p.n || rows * p.n == 0) return;
  p.epilogue.bias = c.temporary(rows * p.n * int64_t(sizeof(int32_t)));
  emit_copies(
      c, "expand", sizeof(int32_t),
      {{c.in(kGemmC), p.epilogue.bias, CopyView{.dims = {rows, p.n}, .in_strides = broadcast_strides(dims, {rows, p.n}), .out_strides = {p.n, 1}}}});
}

/// scale times alpha, which is 1 in all networks.
void scale_by_alpha(LowerContext& c, OutputScales& scales) {
  const float alpha = c.attributes().get_float("alpha", 1.0f);
  if (alpha == 1.0f) return;
  const Buffer from = scales.scale, to = c.temporary(scales.count * 4);
  c.emit("quantized_scales", 1, [=, count = scales.count](const Run& run, int64_t, int64_t) -> const char* {
    for (int64_t i = 0; i < count; ++i) run.get<float>(to)[i] = alpha * run.get<const float>(from)[i];
    return nullptr;
  });
  scales.scale = to;
}

Status lower_q_gemm(LowerContext& c) {
  const Dims a = c.in_dims(kGemmA), y = c.out_dims();
  IntegerProduct p;
  p.m = y[0], p.n = y[1], p.k = c.attributes().get_int("transA") ? a[0] : a[1];
  p.a = emit_transposed(c, p.m, p.k), p.a_type = c.in_type(kGemmA).dtype;
  p.a_zero = numbers_of(c, 2), p.b_zero = numbers_of(c, 5);
  p.b_input = kGemmB, p.column_major = c.attributes().get_int("transB") != 0;
  p.c = c.out();
  p.epilogue.type = c.out_type().dtype;
  if (c.has_input(kGemmC)) set_bias(c, p);
  p.epilogue.scales = output_scales(c, 1, 4, c.has_input(kGemmScale) ? static_cast<int>(kGemmScale) : kNoInput);
  scale_by_alpha(c, p.epilogue.scales);
  p.epilogue.zero = numbers_of(c, c.has_input(kGemmZero) ? static_cast<int>(kGemmZero) : kNoInput);
  emit_integer_product(c, std::move(p));
  return {};
}

Cost q_gemm_cost(const Node& node) {
  Cost cost;
  for (const Value* v : node.inputs())
    if (v) cost.bytes += stored_bytes(v->type);
  cost.bytes += stored_bytes(node.output()->type);
  const Shape& y = node.output()->type.shape;
  const bool known = y.rank() == 2 && y[1].is_static();
  if (known) cost.flops = 2 * stored_bytes(node.input(kGemmA)->type) * static_cast<double>(y[1].value());
  return cost;
}

}  // namespace

OpDef define_q_gemm() {
  return {
      .name = "QGemm",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "A, a_scale, a_zero_point, B, b_scale, b_zero_point, C?, y_scale?, y_zero_point?",
      .attributes = {{"transA", AttributeKind::kInt, false, 0},
                     {"transB", AttributeKind::kInt, false, 0},
                     {"alpha", AttributeKind::kFloat, false, 1.0f}},
      .infer = infer_q_gemm,
      .lower = lower_q_gemm,
      .cost = q_gemm_cost,
      .samples = "(uint8[13, 37] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, int8[37, 29] -128 to 128, float32[29] 0.01 to 0.1, "
                 "int8[29] -128 to 128, int32[29] -999 to 999, float32[] 0.5 to 1, uint8[] 0 to 256)"
                 "(int8[1, 1] -128 to 128, float32[] 0.01 to 0.1, int8[] -128 to 128, int8[1, 1] -128 to 128, float32[] 0.01 to 0.1, "
                 "int8[] -128 to 128)"
                 "(uint8[37, 13] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, int8[29, 37]{13, 90, ...}, float32[] 0.01 to 0.1, "
                 "int8[]{13}, int32[1, 29] -999 to 999) {transA = 1, transB = 1, alpha = 0.5}"
                 "(uint8[3, 5] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, uint8[5, 4] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, "
                 "int32[3, 4] -999 to 999) (int8[3, 5] -128 to 128, float32[] 0.01 to 0.1, int8[] -128 to 128, int8[5, 4] -128 to 128, "
                 "float32[] 0.01 to 0.1, int8[] -128 to 128, int32[3, 1] -999 to 999, float32[] 0.5 to 1, int8[] -128 to 128)",
  };
}

}  // namespace svengine::ops
