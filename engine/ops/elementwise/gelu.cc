// Gelu: x/2 (1 + erf(x / sqrt 2)), or its approximation by tanh.
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/fused_activation.h"

namespace svengine::ops {
namespace {

Status infer_gelu(InferContext& c) {
  const std::string how = c.attributes().get_string("approximate", "none");
  if (how != "none" && how != "tanh") return error("approximate is '{}', needs none or tanh", how);
  return infer_unary<kRealTypes>(c);
}

Status lower_gelu(LowerContext& c) {
  const bool approximate = c.attributes().get_string("approximate", "none") == "tanh";
  emit_unary(c, approximate ? "gelu_tanh" : "gelu", {.op = approximate ? kernels::UnaryOp::kGeluTanh : kernels::UnaryOp::kGelu});
  return {};
}

Status gelu_gradient(GradientContext& c) {
  const bool approximate = c.attributes().get_string("approximate", "none") == "tanh";
  return set_activation_gradient(c, approximate ? "gelu_tanh" : "gelu", c.input(0));
}

}  // namespace

OpDef define_gelu() {
  OpDef op = unary_op("Gelu", "X", infer_gelu, lower_gelu, true);
  op.since = 20;
  op.attributes = {{"approximate", AttributeKind::kString, false, "none"}};
  op.samples += R"((float32[3, 19] -6 to 6) {approximate = "tanh"})";
  op.traits.activation = activation_of_node;
  op.gradient = gelu_gradient;
  op.types = {{"T", kRealTypes, {0}}};
  return op;
}

}  // namespace svengine::ops
