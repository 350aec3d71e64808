// com.microsoft's DynamicQuantizeMatMul: A, quantised by its own range, times quantised B, as float32.
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/quantized/dynamic_quantize_common.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/quantized/counted_inputs.h"

namespace svengine::ops {
namespace {

Status infer_dynamic_quantize_mat_mul(InferContext& c) {
  SV_TRY(require_dtype(c, 0, {DType::f32}));
  SV_TRY(require_bytes(c, 1));
  SV_TRY(require_dtype(c, 2, {DType::f32}));
  SV_TRY(require_zero_of(c, 3, 1));
  SV_TRY(check_counts(c, {.a = 0, .b = 1, .of_columns = {2, 3}, .biases = {4}}));
  SV_TRY(require_dtype(c, 4, {DType::f32}));
  SV_ASSIGN(Shape shape, matmul_shape(c.shape(0), c.shape(1), false, false));
  c.set(0, DType::f32, std::move(shape));
  return {};
}

/// scale[i] = a * b[i].
OutputScales emit_scales(LowerContext& c, Buffer a) {
  const Numbers b = numbers_of(c, 2);
  OutputScales scales{.scale = c.temporary(b.count * 4), .count = b.count, .row_scale = {}};
  c.emit("quantized_scales", 1, [=, to = scales.scale](const Run& run, int64_t, int64_t) -> const char* {
    for (int64_t i = 0; i < b.count; ++i) run.get<float>(to)[i] = *run.get<const float>(a) * run.get<const float>(b.buffer)[i];
    return nullptr;
  });
  return scales;
}

Status lower_dynamic_quantize_mat_mul(LowerContext& c) {
  const int64_t count = element_count(c.in_dims(0));
  if (element_count(c.out_dims()) == 0) return {};
  const Buffer scale = c.temporary(4), zero = c.temporary(1), quantized = c.temporary(std::max<int64_t>(count, 1));
  emit_dynamic_quantize(c, c.in(0), count, quantized, scale, zero);
  IntegerProduct p = integer_matmul_of(c, 0, 1);
  p.a = quantized, p.a_type = DType::u8;
  p.a_zero = {.input = 0, .buffer = zero, .type = DType::u8, .count = 1};
  p.b_zero = numbers_of(c, 3);
  p.epilogue.type = DType::f32;
  p.epilogue.scales = emit_scales(c, scale);
  if (c.has_input(4)) p.epilogue.shift = c.in(4);
  emit_integer_product(c, std::move(p));
  return {};
}

}  // namespace

OpDef define_dynamic_quantize_mat_mul() {
  return {
      .name = "DynamicQuantizeMatMul",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "A, B, b_scale, b_zero_point?, bias?",
      .infer = infer_dynamic_quantize_mat_mul,
      .lower = lower_dynamic_quantize_mat_mul,
      .cost = matmul_cost,
      .samples = "(float32[13, 37], int8[37, 29] -128 to 128, float32[29] 0.01 to 0.1, int8[29] -128 to 128, float32[29])"
                 "(float32[1, 1], uint8[1, 1] 0 to 256, float32[] 0.01 to 0.1)"
                 "(float32[2, 3, 18], int8[18, 33]{13, 90, ...}, float32[1] 0.01 to 0.1)",
  };
}

}  // namespace svengine::ops
