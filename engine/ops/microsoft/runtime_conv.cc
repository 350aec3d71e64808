// com.microsoft.FusedConv: a convolution, a residual added, an activation.
#include "engine/ops/microsoft/microsoft_common.h"
#include "engine/ops/nn/conv_common.h"

namespace svengine::ops {
namespace {

Status infer_runtime_conv(InferContext& c) {
  SV_TRY(check_runtime_activation(c.attributes().get_string("activation", "")));
  SV_TRY(infer_conv(c));
  if (!c.has_input(3) || !c.has_output(0)) return {};
  const Shape &y = c.node().output(0)->type.shape, &z = c.shape(3);
  for (size_t d = 0; y.has_rank() && z.has_rank() && d < y.dims().size(); ++d)
    if (z.rank() != y.rank() || known_different(z[d], y[d]))
      return error("Z {} must be of the result's shape {}", to_string(z), to_string(y));
  return {};
}

Status expand_runtime_conv(ExpandContext& c) {
  std::vector<Value*> inputs{c.input(0), c.input(1)};
  if (c.has_input(2)) inputs.push_back(c.input(2));
  Attributes conv = c.attributes();
  conv.erase("activation"), conv.erase("activation_params");
  Value* y = c.op("Conv", std::move(inputs), std::move(conv));
  if (y && c.has_input(3)) {
    if (c.waits_for_same_shape(y, c.input(3))) return {};
    y = c.op("Add", {y, c.input(3)});
  }
  const auto* parameters = c.attributes().get<std::vector<float>>("activation_params");
  c.set(0,
        y ? runtime_activation(c, y, c.attributes().get_string("activation", ""), parameters ? *parameters : std::vector<float>{})
          : nullptr);
  return {};
}

}  // namespace

OpDef define_microsoft_fused_conv() {
  std::vector<AttributeDef> attributes = conv_attributes();
  attributes.push_back({"activation", AttributeKind::kString});
  attributes.push_back({"activation_params", AttributeKind::kFloats});
  return {
      .name = "FusedConv",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X, W, B?, Z?",
      .attributes = std::move(attributes),
      .expand = expand_runtime_conv,
      .infer = infer_runtime_conv,
      .types = {{"T", {DType::f16, DType::f32, DType::f64}, {0, 1, 2, 3}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = R"((float32[1, 3, 6, 6], float32[18, 3, 3, 3], float32[18], float32[1, 18, 6, 6]) {pads = [1, 1, 1, 1], activation = "Relu"})"
                 R"((float32[1, 2, 3, 3], float32[2, 1, 2, 2]) {group = 2, activation = "LeakyRelu", activation_params = [0.2]})",
  };
}

}  // namespace svengine::ops
