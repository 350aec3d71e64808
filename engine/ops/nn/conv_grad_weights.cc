// svengine.ConvGradWeights: the gradient of Conv's W. Inputs: dy, X, and W for its shape; the attributes are Conv's.
#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/nn/conv_grad_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

Status infer(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "dy", {DType::f32}));
  SV_TRY(require_dtype(c, 1, "X", {DType::f32}));
  SV_ASSIGN(Shape shape, like_shape(c, 2));
  c.set(0, DType::f32, std::move(shape));
  return {};
}

Status lower(LowerContext& c) {
  SV_ASSIGN(const ConvGrad g, conv_grad_of(c.attributes(), c.in_dims(1), c.out_dims()));
  emit_conv_grad_weights(c, g, c.in(0), c.in(1), c.out());
  return {};
}

Cost cost(const Node& node) { return conv_grad_cost(node, node.input(0)->type, node.output()->type); }

std::vector<AttributeDef> attributes() {
  std::vector<AttributeDef> all = conv_attributes();
  all.push_back(shape_attribute());
  return all;
}

}  // namespace

OpDef define_conv_grad_weights() {
  return {
      .name = "ConvGradWeights",
      .domain = kInternalDomain,
      .inputs = {2, 3},
      .attributes = attributes(),
      .infer = infer,
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
