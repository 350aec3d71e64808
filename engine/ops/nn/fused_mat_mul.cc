// svengine.FusedMatMul: activation(alpha * A' * B' + bias + residual), made by fusion from MatMul and Gemm and what follows.
//
// A' and B' are A and B, or transposed in their last two dimensions. bias has one element for every column of the result;
// the residual has the result's shape. Both are optional.
#include "engine/ops/fused_activation.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

Status infer(InferContext& c) {
  SV_TRY(check_activation(c.attributes()));
  SV_ASSIGN(Shape shape, matmul_shape(c.shape(0), c.shape(1), c.attributes().integer("transpose_a"), c.attributes().integer("transpose_b")));
  if (c.has_input(2)) SV_TRY(require_rank(c, 2, "bias", 1));
  if (c.has_input(3) && c.shape(3).is_static() && shape.is_static() && !(c.shape(3) == shape))
    return error("residual {} is not of the result's shape {}", to_string(c.shape(3)), to_string(shape));
  c.set(0, DType::f32, std::move(shape));
  return {};
}

Status lower(LowerContext& c) {
  Product p = matmul_of(c, c.attributes().integer("transpose_a"), c.attributes().integer("transpose_b"));
  p.alpha = c.attributes().real("alpha", 1.0f);
  if (c.has_input(2)) p.bias = {c.in(2), kernels::GemmBias::kColumn, 1.0f};
  p.residual = c.in(3);
  p.activation = activation_of(c.attributes());
  emit_product(c, std::move(p));
  return {};
}

}  // namespace

OpDef define_fused_mat_mul() {
  return {
      .name = "FusedMatMul",
      .domain = kInternalDomain,
      .inputs = {2, 4},
      .attributes = with_activation_attributes({{"transpose_a", AttributeKind::integer, false, int64_t{0}},
                                                {"transpose_b", AttributeKind::integer, false, int64_t{0}},
                                                {"alpha", AttributeKind::real, false, 1.0f}}),
      .infer = infer,
      .lower = lower,
      .cost = matmul_cost,
      .rtol = 1e-5,
      .atol = 1e-5,
      .samples = {{.inputs = {f32({9, 33}), f32({33, 18}), f32({18}), f32({9, 18})}, .attributes = {{"activation", text("relu")}}},
                  {.inputs = {f32({2, 3, 5, 16}), f32({2, 3, 7, 16})},
                   .attributes = {{"transpose_b", integer(1)}, {"alpha", real(0.25f)}, {"activation", text("gelu")}}}},
  };
}

}  // namespace svengine::ops
