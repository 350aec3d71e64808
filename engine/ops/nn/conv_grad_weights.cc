// svengine.ConvGradWeights: the gradient of Conv's W. Inputs: dy, X, and W for its shape; the attributes are Conv's.
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/nn/conv_grad_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

Status lower(LowerContext& c) {
  SV_ASSIGN(const ConvGrad g, conv_grad_of(c.attributes(), c.in_dims(1), c.out_dims()));
  emit_conv_grad_weights(c, g, c.in(0), c.in(1), c.out());
  return {};
}

Cost cost(const Node& node) { return conv_grad_cost(node, node.input(0)->type, node.output()->type); }

}  // namespace

OpDef define_conv_grad_weights() {
  return {
      .name = "ConvGradWeights",
      .domain = kInternalDomain,
      .inputs = {2, 3},
      .attributes = conv_grad_attributes(),
      .infer = [](InferContext& c) { return infer_conv_grad(c, "X"); },
      .lower = lower,
      .cost = cost,
      .shape_only_input = 2,
      .rtol = 1e-5,
      .atol = 1e-4,
      .samples = {{.inputs = {f32({2, 7, 11, 9}), f32({2, 3, 11, 9}), f32({7, 3, 3, 3})},
                   .attributes = {{"pads", integers({1, 1, 1, 1})}}},
                  {.inputs = {f32({3, 18, 8, 8}), f32({3, 20, 8, 8})}, .attributes = {{"shape", integers({18, 20, 1, 1})}}},
                  {.inputs = {f32({1, 8, 4, 3}), f32({1, 6, 9, 7}), f32({8, 3, 3, 2})},
                   .attributes = {{"group", integer(2)}, {"strides", integers({2, 2})}}}},
  };
}

}  // namespace svengine::ops
