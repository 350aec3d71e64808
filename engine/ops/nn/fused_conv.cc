// svengine.FusedConv: activation(Conv(X, scale W, B) + residual), made by fusion. The residual has the result's shape and
// layout; scale is a constant, one factor for every output channel.
#include "engine/ops/fused_activation.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/conv_common.h"

namespace svengine::ops {
namespace {

Status infer_fused_conv(InferContext& c) {
  SV_TRY(infer_conv(c));
  SV_TRY(check_activation(c.attributes(), c.dtype(0)));
  if (const Value* scale = c.node().input(kConvWeightScale)) {
    if (c.dtype(0) == DType::f64) return error("weights of float64 are not scaled where they are packed");
    const Shape& w = c.shape(1);
    if (!scale->is_constant() || scale->type.dtype != DType::f64 || (w.has_rank() && !(scale->type.shape == Shape({w[0]}))))
      return error("weight scale needs to be a constant f64[{}], got {}", w.has_rank() ? to_string(Shape({w[0]})) : "?",
                   to_string(scale->type));
  }
  const Shape& out = c.node().output()->type.shape;
  if (c.has_input(3) && c.shape(3).is_static() && out.is_static() && !(c.shape(3) == out))
    return error("residual {} is not of the result's shape {}", to_string(c.shape(3)), to_string(out));
  return {};
}

}  // namespace

OpDef define_fused_conv() {
  return {
      .name = "FusedConv",
      .domain = kInternalDomain,
      .inputs = "X, W, B?, residual?, scale?",
      .attributes = with_activation_attributes(conv_attributes()),
      .infer = infer_fused_conv,
      .lower = [](LowerContext& c) { return lower_conv(c, c.in(3), activation_of(c.attributes())); },
      .types = {{"T", kSingleTypes | DTypeSet{DType::f64}, {0, 1, 2, 3}}, {"scale", {DType::f64}, {4}}},
      .cost = conv_cost,
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_conv, .reads_plain = conv_reads_plain, .inputs = {3}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[1, 20, 6, 6], float32[18, 20, 3, 3], float32[18], float32[1, 18, 6, 6]) {pads = [1, 1, 1, 1], "
                 R"(activation = "relu"})"
                 "(float32[1, 20, 3, 4, 4], float32[18, 20, 3, 3, 2], float32[18], float32[1, 18, 3, 4, 4]) {pads = [1, 1, 1, 1, 1, 0], "
                 R"(activation = "leaky_relu", activation_alpha = 0.1})"
                 "(float64[2, 6, 5, 7], float64[9, 2, 3, 2], float64[9], float64[2, 9, 5, 6]) {group = 3, pads = [1, 0, 1, 0], "
                 R"(activation = "tanh"})"
                 "(float32[1, 3, 4, 4], float32[2, 3, 1, 1]{1.0, 2.0, 3.0, -1.0, 0.5, 2.0}, float32[2]{1.0, -2.0}, float32[1, 2, 4, 4], "
                 "float64[2]{0.1, -3.0})",
  };
}

}  // namespace svengine::ops
