// MatMulInteger: (A - a_zero_point) (B - b_zero_point) in 32 bits.
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/quantized/counted_inputs.h"

namespace svengine::ops {
namespace {

Status infer_mat_mul_integer(InferContext& c) {
  SV_TRY(require_bytes(c, 0));
  SV_TRY(require_bytes(c, 1));
  SV_TRY(require_zero_of(c, 2, 0));
  SV_TRY(require_zero_of(c, 3, 1));
  SV_TRY(check_counts(c, {.a = 0, .b = 1, .of_rows = {2}, .of_columns = {3}}));
  SV_ASSIGN(Shape shape, matmul_shape(c.shape(0), c.shape(1), false, false));
  c.set(0, DType::i32, std::move(shape));
  return {};
}

Status lower_mat_mul_integer(LowerContext& c) {
  IntegerProduct p = integer_matmul_of(c, 0, 1);
  p.a_zero = numbers_of(c, 2);
  p.b_zero = numbers_of(c, 3);
  emit_integer_product(c, std::move(p));
  return {};
}

}  // namespace

OpDef define_mat_mul_integer() {
  return {
      .name = "MatMulInteger",
      .since = 10,
      .inputs = "A, B, a_zero_point?, b_zero_point?",
      .infer = infer_mat_mul_integer,
      .lower = lower_mat_mul_integer,
      .cost = matmul_cost,
      .samples = "(uint8[13, 37] 0 to 256, int8[37, 29] -128 to 128)"
                 "(uint8[1, 1] 0 to 256, uint8[1, 1] 0 to 256, uint8[] 0 to 256, uint8[] 0 to 256)"
                 "(uint8[2, 3, 5, 17] 0 to 256, uint8[3, 17, 8] 0 to 256, uint8[] 0 to 256, uint8[] 0 to 256)"
                 "(int8[7, 18] -128 to 128, int8[18, 33] -128 to 128, int8[7] -128 to 128, int8[33] -128 to 128)"
                 "(int8[4, 3, 6] -128 to 128, uint8[6, 5] 0 to 256, int8[4, 3, 1] -128 to 128, uint8[1] 0 to 256)"
                 "(uint8[2, 3, 6] 0 to 256, int8[2, 6, 5]{13, 90, ...}, uint8[] 0 to 256, int8[2, 1, 5]{13, 90, -89, -12, 65, -114, -37, "
                 "40, 117, -62})"
                 "(uint8[20] 0 to 256, uint8[20, 3]{13, 90, ...}, uint8[1] 0 to 256, uint8[3]{13, 90, 167})",
  };
}

}  // namespace svengine::ops
