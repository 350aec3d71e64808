// ONNX's experimental functions of elements: Affine, ImageScaler, ParametricSoftplus, Scale, ScaledTanh. ONNX 1.5 took them away without
// anything in their place; converters of before (WinMLTools, of Core ML; PyTorch's, of Caffe2) have written them, and ONNX Runtime runs them.
#include "engine/graph/expand.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/experimental/experimental.h"

namespace svengine::ops {
namespace {

Value* times(ExpandContext& c, Value* x, float factor) {
  return factor == 1 ? x : c.op("Mul", {x, c.number(factor, c.dtype(0))});
}

/// alpha x + beta
Status expand_affine(ExpandContext& c) {
  const float beta = c.attributes().get_float("beta", 0);
  Value* product = times(c, c.input(0), c.attributes().get_float("alpha", 1));
  c.set(0, c.op("Add", {product, c.number(beta, c.dtype(0))}));
  return {};
}

Status expand_scale(ExpandContext& c) {
  c.set(0, c.op("Mul", {c.input(0), c.number(c.attributes().get_float("scale", 1), c.dtype(0))}));
  return {};
}

/// alpha f(beta x)
Status expand_scaled(ExpandContext& c, const char* function) {
  Value* value = c.op(function, {times(c, c.input(0), c.attributes().get_float("beta"))});
  c.set(0, times(c, value, c.attributes().get_float("alpha")));
  return {};
}

Status expand_scaled_tanh(ExpandContext& c) { return expand_scaled(c, "Tanh"); }
Status expand_parametric_softplus(ExpandContext& c) { return expand_scaled(c, "Softplus"); }

Status infer_image_scaler(InferContext& c) {
  SV_TRY(require_rank(c, 0, 4));
  const auto* bias = c.attributes().get<std::vector<float>>("bias");
  const auto count = static_cast<int64_t>(bias->size());
  if (c.shape(0).has_rank() && known_different(c.shape(0)[1], Dim(count)))
    return error("bias has {} elements, needs one for each of {} channels", count, c.shape(0)[1].value());
  return infer_unary<kRealTypes>(c);
}

/// scale x + bias of the channel, for images [N, C, H, W]
Status expand_image_scaler(ExpandContext& c) {
  const auto& bias = *c.attributes().get<std::vector<float>>("bias");
  Value* channels = c.builder().constant(Tensor::of<float>({static_cast<int64_t>(bias.size()), 1, 1}, std::span<const float>(bias)));
  c.set(0, c.op("Add", {times(c, c.input(0), c.attributes().get_float("scale", 1)), c.cast(channels, c.dtype(0))}));
  return {};
}

OpDef function(const char* name, OpInputs inputs, std::vector<AttributeDef> attributes, Status (*expand)(ExpandContext&), std::string samples) {
  return {.name = name,
          .until = kLastExperimental,
          .inputs = inputs,
          .attributes = std::move(attributes),
          .expand = expand,
          .infer = infer_unary<kRealTypes>,
          .types = {{"T", kRealTypes, {0}}},
          .tolerance = {.rtol = 1e-5, .atol = 1e-5},
          .samples = std::move(samples)};
}

std::vector<AttributeDef> alpha_and_beta() { return {{"alpha", AttributeKind::kFloat, true}, {"beta", AttributeKind::kFloat, true}}; }

}  // namespace

OpDef define_affine() {
  return function("Affine", "X", {{"alpha", AttributeKind::kFloat, false, 1.0f}, {"beta", AttributeKind::kFloat, false, 0.0f}}, expand_affine,
                  "(float32[2, 3]) {alpha = 2.0, beta = -0.5}"
                  "(float64[5])");
}

OpDef define_scale() {
  return function("Scale", "input", {{"scale", AttributeKind::kFloat, false, 1.0f}}, expand_scale,
                  "(float32[2, 3]) {scale = 0.25}"
                  "(float32[2, 0])");
}

OpDef define_scaled_tanh() {
  return function("ScaledTanh", "input", alpha_and_beta(), expand_scaled_tanh,
                  "(float32[2, 3]) {alpha = 1.7159, beta = 0.6667}");
}

OpDef define_parametric_softplus() {
  return function("ParametricSoftplus", "X", alpha_and_beta(), expand_parametric_softplus,
                  "(float32[2, 3]) {alpha = 2.0, beta = 0.5}");
}

OpDef define_image_scaler() {
  OpDef op = function("ImageScaler", "input", {{"bias", AttributeKind::kFloats, true}, {"scale", AttributeKind::kFloat, false, 1.0f}},
                      expand_image_scaler,
                      "(float32[2, 3, 4, 5]) {bias = [1.0, -2.0, 3.0], scale = 0.5}");
  op.infer = infer_image_scaler;
  return op;
}

}  // namespace svengine::ops
