// Conv: over 1, 2 or 3 spatial dimensions, with groups, strides, dilations and padding.
#include "engine/graph/gradient.h"
#include "engine/ops/nn/conv_common.h"

namespace svengine::ops {
namespace {

/// dY summed over everything but channels, where W does not learn.
Value* bias_gradient(GradientContext& c) {
  std::vector<int64_t> axes{0};
  for (int64_t i = 2; i < c.dy()->type.shape.rank(); ++i) axes.push_back(i);
  Value* list = c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, std::span<const int64_t>(axes)));
  return c.op("ReduceSum", {c.dy(), list}, make_attributes({{"keepdims", int64_t{0}}}));
}

Status conv_gradient(GradientContext& c) {
  Value *x = c.input(0), *w = c.input(1), *dy = c.dy();
  if (c.wants(0)) c.set(0, c.internal("ConvGradInput", {dy, w, x}, c.attributes()));
  if (c.wants(1)) {
    const Node* grad = c.builder().node(kInternalDomain, "ConvGradWeights", {dy, x, w}, c.wants(2) ? 2 : 1, c.attributes());
    if (!grad) return {};
    for (size_t i = 0; i < grad->outputs().size(); ++i) c.set(i + 1, grad->output(i));
    return {};
  }
  if (!c.wants(2)) return {};
  if (!dy->type.shape.has_rank()) return error("the gradient of B needs an output of known rank");
  c.set(2, bias_gradient(c));
  return {};
}

}  // namespace

OpDef define_conv() {
  return {
      .name = "Conv",
      .inputs = "X, W, B?",
      .attributes = conv_attributes(),
      .infer = infer_conv,
      .lower = [](LowerContext& c) { return lower_conv(c, {}, {}); },
      .types = {{"T", kRealTypes, {0, 1, 2}}},
      .cost = conv_cost,
      .gradient = conv_gradient,
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_conv, .reads_plain = conv_reads_plain},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 11, 9], float32[7, 3, 3, 3], float32[7]) {pads = [1, 1, 1, 1]}"
                 "(float32[1, 20, 8, 8], float32[18, 20, 1, 1]) {strides = [2, 2]}"
                 "(float32[1, 12, 9, 9], float32[12, 1, 3, 3], float32[12]) {group = 12, dilations = [2, 2], pads = [2, 2, 2, 2]}"
                 R"((float32[1, 6, 10, 7], float32[8, 3, 3, 2]) {group = 2, auto_pad = "SAME_UPPER"})"
                 "(float32[2, 3, 17], float32[5, 3, 4], float32[5]) {strides = [3]}"
                 "(float32[2, 2, 4, 5, 6], float32[18, 2, 2, 3, 3], float32[18]) {pads = [1, 1, 1, 0, 1, 1]}"
                 "(float32[1, 20, 5, 4, 6], float32[18, 20, 3, 3, 2]) {pads = [1, 0, 1, 2, 1, 0], strides = [2, 1, 2], "
                 "dilations = [2, 1, 1]}"
                 "(float32[1, 18, 3, 4, 4], float32[20, 18, 1, 1, 1])"
                 "(float64[2, 6, 9, 7], float64[8, 3, 3, 2], float64[8]) {group = 2, pads = [1, 0, 1, 1], strides = [2, 1]}"
                 "(float16[1, 3, 5], float16[2, 3, 3])"
                 "(bfloat16[1, 3, 5], bfloat16[2, 3, 3])",
  };
}

}  // namespace svengine::ops
