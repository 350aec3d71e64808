// svengine.ConvGradInput: the gradient of Conv's X. Inputs: dy, W, and X for its shape; the attributes are Conv's.
#include "engine/ops/like.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/nn/conv_grad_common.h"
#include "engine/ops/nn/conv_grad_input_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

Status infer_conv_grad_input(InferContext& c) {
  SV_TRY(infer_conv_grad(c));
  SV_ASSIGN(const Shape x, like_shape(c, 2));
  return check_conv_grad(c, x, c.shape(1));
}

Status lower_conv_grad_input(LowerContext& c) {
  if (c.out_type().block) return lower_conv_grad_input_blocked(c);
  SV_ASSIGN(const ConvGrad g, conv_grad_of(c.attributes(), c.out_dims(), c.in_dims(1)));
  if (wide::is_wide(c)) {
    const Dims x = c.out_dims(), w = c.in_dims(1);
    SV_ASSIGN(const Window window, window_of(c.attributes(), Dims(x.begin() + 2, x.end()), Dims(w.begin() + 2, w.end())));
    wide::emit_conv_transpose(c, window, g.groups, {});
    return {};
  }
  emit_conv_grad_input(c, g, c.in(0), c.in(1), c.out());
  return {};
}

/// As many products as the forward pass has.
Cost conv_grad_input_cost(const Node& node) { return conv_grad_cost(node, node.input(0)->type, node.input(1)->type); }

/// The transpose of the transposed convolution.
Status conv_grad_input_gradient(GradientContext& c) {
  Attributes attributes;
  for (const AttributeDef& a : conv_attributes())
    if (const Attribute* value = c.attributes().find(a.name)) attributes.set(a.name, *value);
  c.set(0, c.op("Conv", {c.dy(), c.input(1)}, std::move(attributes)));
  return {};
}

}  // namespace

OpDef define_conv_grad_input() {
  return {
      .name = "ConvGradInput",
      .domain = kInternalDomain,
      .inputs = "dy, W, X?",
      .attributes = conv_grad_attributes(),
      .infer = infer_conv_grad_input,
      .lower = lower_conv_grad_input,
      .cost = conv_grad_input_cost,
      .gradient = conv_grad_input_gradient,
      .traits = {.shape_only_input = 2, .linear_input = 0},
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_conv_grad_input},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 7, 11, 9], float32[7, 3, 3, 3], float32[2, 3, 11, 9]) {pads = [1, 1, 1, 1]}"
                 "(float32[3, 18, 8, 8], float32[18, 20, 1, 1]) {shape = [3, 20, 8, 8]}"
                 "(float32[2, 33, 9, 10] -1 to 1, float32[33, 20, 5, 3] -1 to 1, float32[2, 20, 9, 10]) {pads = [2, 1, 2, 1]}"
                 "(float32[2, 18, 5, 6], float32[18, 20, 3, 3], float32[2, 20, 9, 12]) {pads = [1, 1, 1, 1], strides = [2, 2]}"
                 "(float32[1, 18, 5, 4], float32[18, 20, 1, 1], float32[1, 20, 10, 7]) {strides = [2, 2]}"
                 "(float32[1, 5, 4, 5], float32[5, 7, 7, 5], float32[1, 7, 12, 9]) {pads = [3, 1, 2, 3], strides = [3, 2]}"
                 "(float32[1, 5, 6, 7], float32[5, 7, 3, 3], float32[1, 7, 6, 7]) {pads = [2, 2, 2, 2], dilations = [2, 2]}"
                 "(float32[1, 8, 4, 3], float32[8, 3, 3, 2], float32[1, 6, 9, 7]) {group = 2, strides = [2, 2]}"
                 "(float64[2, 7, 5, 4], float64[7, 3, 3, 3], float64[2, 3, 5, 4]) {pads = [1, 1, 1, 1]}",
  };
}

}  // namespace svengine::ops
