// QLinearMatMul: quantised((a_scale b_scale / y_scale) (A - a_zero_point) (B - b_zero_point)), and com.microsoft's MatMulIntegerToFloat,
// the same product as float32.
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/quantized/counted_inputs.h"

namespace svengine::ops {
namespace {

Status infer_q_linear_mat_mul(InferContext& c) {
  SV_TRY(require_bytes(c, 0));
  SV_TRY(require_bytes(c, 3));
  SV_TRY(require_bytes(c, 7));
  SV_TRY(require_zero_of(c, 2, 0));
  SV_TRY(require_zero_of(c, 5, 3));
  for (size_t scale : {1, 4, 6}) SV_TRY(require_scale(c, scale));
  SV_TRY(check_counts(c, {.a = 0, .b = 3, .of_rows = {1, 2}, .of_columns = {4, 5}, .single = {6, 7}}));
  SV_ASSIGN(Shape shape, matmul_shape(c.shape(0), c.shape(3), false, false));
  c.set(0, c.dtype(7), std::move(shape));
  return {};
}

Status lower_q_linear_mat_mul(LowerContext& c) {
  IntegerProduct p = integer_matmul_of(c, 0, 3);
  p.a_zero = numbers_of(c, 2);
  p.b_zero = numbers_of(c, 5);
  p.epilogue = {.type = c.out_type().dtype, .bias = {}, .scales = output_scales(c, 1, 4, 6), .shift = {}, .zero = numbers_of(c, 7)};
  emit_integer_product(c, std::move(p));
  return {};
}

Status infer_mat_mul_integer_to_float(InferContext& c) {
  SV_TRY(check_counts(c, {.a = 0, .b = 1, .of_rows = {2, 4}, .of_columns = {3, 5}, .biases = {6}}));
  SV_ASSIGN(Shape shape, matmul_shape(c.shape(0), c.shape(1), false, false));
  c.set(0, DType::f32, std::move(shape));
  return {};
}

Status lower_mat_mul_integer_to_float(LowerContext& c) {
  IntegerProduct p = integer_matmul_of(c, 0, 1);
  p.a_zero = numbers_of(c, 4);
  p.b_zero = numbers_of(c, 5);
  p.epilogue = {
      .type = DType::f32, .bias = {}, .scales = output_scales(c, 2, 3, kNoInput), .shift = c.has_input(6) ? c.in(6) : Buffer{}, .zero = {}};
  emit_integer_product(c, std::move(p));
  return {};
}

}  // namespace

OpDef define_q_linear_mat_mul() {
  return {
      .name = "QLinearMatMul",
      .since = 10,
      .inputs = "a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point",
      .infer = infer_q_linear_mat_mul,
      .lower = lower_q_linear_mat_mul,
      .cost = matmul_cost,
      .samples = "(uint8[13, 37] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, int8[37, 29] -128 to 128, float32[] 0.01 to 0.1, "
                 "int8[] -128 to 128, float32[] 0.5 to 1, uint8[] 0 to 256)"
                 "(int8[1, 1] -128 to 128, float32[] 0.01 to 0.1, int8[] -128 to 128, int8[1, 1] -128 to 128, float32[] 0.01 to 0.1, "
                 "int8[] -128 to 128, float32[] 0.01 to 0.1, int8[] -128 to 128)"
                 "(uint8[2, 3, 5, 17] 0 to 256, float32[] 0.01 to 0.1, uint8[1] 0 to 256, uint8[17, 8]{13, 90, ...}, "
                 "float32[] 0.01 to 0.1, uint8[]{13}, float32[] 0.5 to 1, int8[1] -128 to 128)"
                 "(int8[7, 18] -128 to 128, float32[7] 0.01 to 0.1, int8[7] -128 to 128, int8[18, 33] -128 to 128, "
                 "float32[33] 0.01 to 0.1, int8[33] -128 to 128, float32[] 0.5 to 1, uint8[] 0 to 256)"
                 "(uint8[2, 4, 9] 0 to 256, float32[2, 4, 1] 0.01 to 0.1, uint8[2, 4, 1] 0 to 256, int8[2, 9, 5] -128 to 128, "
                 "float32[2, 1, 5] 0.01 to 0.1, int8[2, 1, 5] -128 to 128, float32[] 0.5 to 1, uint8[] 0 to 256)",
  };
}

OpDef define_mat_mul_integer_to_float() {
  return {
      .name = "MatMulIntegerToFloat",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "A, B, a_scale, b_scale, a_zero_point?, b_zero_point?, bias?",
      .infer = infer_mat_mul_integer_to_float,
      .lower = lower_mat_mul_integer_to_float,
      .types = {{"T1", kBytes, {0, 4}}, {"T2", kBytes, {1, 5}}, {"T3", {DType::f32}, {2, 3, 6}}},
      .cost = matmul_cost,
      .samples = "(uint8[13, 37] 0 to 256, int8[37, 29] -128 to 128, float32[] 0.01 to 0.1, float32[] 0.01 to 0.1, uint8[] 0 to 256, "
                 "int8[] -128 to 128, float32[29])"
                 "(int8[1, 1] -128 to 128, uint8[1, 1] 0 to 256, float32[] 0.01 to 0.1, float32[] 0.01 to 0.1)"
                 "(uint8[2, 3, 18] 0 to 256, int8[18, 33]{13, 90, ...}, float32[1] 0.01 to 0.1, float32[33] 0.01 to 0.1, uint8[] 0 to 256, "
                 "int8[33]{13, 90, ...})",
  };
}

}  // namespace svengine::ops
