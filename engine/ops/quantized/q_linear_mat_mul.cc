// QLinearMatMul: quantised((a_scale b_scale / y_scale) (A - a_zero_point) (B - b_zero_point)), and com.microsoft's MatMulIntegerToFloat,
// the same product as float32.
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/quantized/quantized_samples.h"

namespace svengine::ops {
namespace {

Status infer_q_linear_mat_mul(InferContext& c) {
  SV_TRY(require_bytes(c, 0, "a"));
  SV_TRY(require_bytes(c, 3, "b"));
  SV_TRY(require_bytes(c, 7, "y_zero_point"));
  SV_TRY(require_zero_of(c, 2, 0, "a_zero_point"));
  SV_TRY(require_zero_of(c, 5, 3, "b_zero_point"));
  static constexpr std::pair<size_t, const char*> kScales[] = {{1, "a_scale"}, {4, "b_scale"}, {6, "y_scale"}};
  for (const auto& [input, what] : kScales) SV_TRY(require_scale(c, input, what));
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
  SV_TRY(require_bytes(c, 0, "A"));
  SV_TRY(require_bytes(c, 1, "B"));
  SV_TRY(require_zero_of(c, 4, 0, "a_zero_point"));
  SV_TRY(require_zero_of(c, 5, 1, "b_zero_point"));
  for (size_t i : {2, 3}) SV_TRY(require_dtype(c, i, i == 2 ? "a_scale" : "b_scale", {DType::f32}));
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
      .inputs = {8, 8},
      .infer = infer_q_linear_mat_mul,
      .lower = lower_q_linear_mat_mul,
      .cost = matmul_cost,
      .samples = {{.inputs = {u8({13, 37}), scale(), u8({}), i8({37, 29}), scale(), i8({}), scale(0.5, 1), u8({})}},
                  {.inputs = {i8({1, 1}), scale(), i8({}), i8({1, 1}), scale(), i8({}), scale(), i8({})}},
                  {.inputs = {u8({2, 3, 5, 17}), scale(), u8({1}), fixed(bytes<uint8_t>({17, 8})), scale(), fixed(bytes<uint8_t>({})),
                              scale(0.5, 1), i8({1})}},
                  {.inputs = {i8({7, 18}), scale(0.01, 0.1, {7}), i8({7}), i8({18, 33}), scale(0.01, 0.1, {33}), i8({33}), scale(0.5, 1),
                              u8({})}},
                  {.inputs = {u8({2, 4, 9}), scale(0.01, 0.1, {2, 4, 1}), u8({2, 4, 1}), i8({2, 9, 5}), scale(0.01, 0.1, {2, 1, 5}),
                              i8({2, 1, 5}), scale(0.5, 1), u8({})}}},
  };
}

OpDef define_mat_mul_integer_to_float() {
  return {
      .name = "MatMulIntegerToFloat",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = {4, 7},
      .infer = infer_mat_mul_integer_to_float,
      .lower = lower_mat_mul_integer_to_float,
      .cost = matmul_cost,
      .samples = {{.inputs = {u8({13, 37}), i8({37, 29}), scale(), scale(), u8({}), i8({}), f32({29})}},
                  {.inputs = {i8({1, 1}), u8({1, 1}), scale(), scale()}},
                  {.inputs = {u8({2, 3, 18}), fixed(bytes<int8_t>({18, 33})), scale(0.01, 0.1, {1}), scale(0.01, 0.1, {33}), u8({}),
                              fixed(bytes<int8_t>({33}))}}},
  };
}

}  // namespace svengine::ops
