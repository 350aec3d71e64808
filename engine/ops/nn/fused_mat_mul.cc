// svengine.FusedMatMul: activation(alpha * A' * B' + bias + residual), made by fusion from MatMul and Gemm and what follows.
//
// A' and B' are A and B, or transposed in their last two dimensions. bias has one element for every column of the result;
// the residual has the result's shape. Both are optional.
//
// Output 1 exists where attribute sum_of says so: 1, the sums of A's rows, [k, m] being its shape (transpose_a), or 2, those of B's,
// [k, n]. They cost nothing beside the packing. It is what the bias of a dense layer gets where the product gives the weights'
// gradient; nobody has to ask for it.
#include "engine/ops/fused_activation.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kFusedTypes = kSingleTypes | DTypeSet{DType::f64};

/// The input whose rows output 1 sums up.
size_t summed_input(const Attributes& attributes) { return attributes.get_int("sum_of") == 1 ? 0 : 1; }

Status infer_sums(InferContext& c) {
  const size_t input = summed_input(c.attributes());
  const bool lies_right = c.attributes().get_int(input == 0 ? "transpose_a" : "transpose_b") == (input == 0 ? 1 : 0);
  if (!c.attributes().get_int("sum_of") || !lies_right || c.shape(0).rank() != 2 || c.shape(1).rank() != 2)
    return error("sums need sum_of = 1 with A transposed or sum_of = 2 with B not, and operands of rank 2");
  c.set(1, c.dtype(0), Shape({c.shape(input)[1]}));
  return {};
}

Status infer_fused_mat_mul(InferContext& c) {
  for (size_t i = 0; i < 4; ++i) SV_TRY(require_dtype(c, i, kFusedTypes));
  SV_TRY(check_activation(c.attributes(), c.dtype(0)));
  SV_ASSIGN(Shape shape, matmul_shape(c.shape(0), c.shape(1), c.attributes().get_int("transpose_a"), c.attributes().get_int("transpose_b")));
  SV_TRY(require_rank(c, 2, 1));
  if (c.has_input(3) && c.shape(3).is_static() && shape.is_static() && !(c.shape(3) == shape))
    return error("residual {} is not of the result's shape {}", to_string(c.shape(3)), to_string(shape));
  c.set(0, c.dtype(0), std::move(shape));
  return c.has_output(1) ? infer_sums(c) : Status{};
}

Status lower_fused_mat_mul(LowerContext& c) {
  Product p = matmul_of(c, c.attributes().get_int("transpose_a"), c.attributes().get_int("transpose_b"));
  p.alpha = c.attributes().get_float("alpha", 1.0f);
  if (c.has_input(2)) p.bias = {c.in(2), kernels::GemmBias::kColumn, 1.0f};
  p.residual = c.in(3);
  p.activation = activation_of(c.attributes());
  if (c.has_output(1)) {
    ProductOperand& operand = summed_input(c.attributes()) == 0 ? p.a : p.b;
    if (operand.constant_input >= 0)
      operand.buffer = c.in(static_cast<size_t>(operand.constant_input)), operand.constant_input = -1;  // packed here, not at load
    if (c.in_type(0).dtype != DType::f32 || !can_sum_operand(p, operand)) return error("the sums of this operand are not made by packing it");
    operand.sums = c.out(1);
  }
  emit_product(c, std::move(p));
  return {};
}

}  // namespace

OpDef define_fused_mat_mul() {
  return {
      .name = "FusedMatMul",
      .domain = kInternalDomain,
      .inputs = "A, B, bias?, residual?",
      .outputs = {1, 2},
      .attributes = with_activation_attributes({{"transpose_a", AttributeKind::kInt, false, 0},
                                                {"transpose_b", AttributeKind::kInt, false, 0},
                                                {"sum_of", AttributeKind::kInt, false, 0},
                                                {"alpha", AttributeKind::kFloat, false, 1.0f}}),
      .infer = infer_fused_mat_mul,
      .lower = lower_fused_mat_mul,
      .types = {{"T", kFusedTypes, {0, 1, 2, 3}}},
      .cost = matmul_cost,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = R"((float32[9, 33], float32[33, 18], float32[18], float32[9, 18]) {activation = "relu"})"
                 R"((float32[2, 3, 5, 16], float32[2, 3, 7, 16]) {transpose_b = 1, alpha = 0.25, activation = "gelu"})"
                 R"((float32[67, 16], float32[16, 1], float32[1], float32[67, 1]) {activation = "relu"})"
                 R"((float32[2, 67, 16], float32[16, 3], float32[3]) {activation = "gelu"})"
                 "(float32[300, 18], float32[300, 35]) {transpose_a = 1, sum_of = 1} 2"
                 "(float32[129, 18], float32[129, 35]) {transpose_a = 1, sum_of = 2} 2"
                 R"((float64[19, 33], float64[18, 33], float64[18]) {transpose_b = 1, activation = "tanh"})"
                 R"((float64[2, 3, 5, 16], float64[2, 3, 16, 7], float64[7], float64[2, 3, 5, 7]) {activation = "sigmoid"})",
  };
}

}  // namespace svengine::ops
