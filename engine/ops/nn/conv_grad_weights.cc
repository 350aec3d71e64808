// svengine.ConvGradWeights: the gradients of Conv's W and, as a second output, of its B. Inputs: dy, X, and W for its shape; the
// attributes are Conv's.
//
// With one group, or groups within a block, dy and X are read in blocks by kernels of their own (kernels/conv_grad.h), X of a first layer
// plain; everything else goes by matrix products (conv_grad_common.h).
#include "engine/kernels/gradient.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/nn/conv_grad_common.h"
#include "engine/ops/like.h"
#include "engine/ops/reduce/reduce_common.h"
#include "engine/ops/adjoint/wide_gradients.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

using kernels::ConvWeightGradArgs;

void emit_blocked(LowerContext& c, const ConvGrad& g) {
  const kernels::PoolShape& window = g.window;
  const kernels::ConvWeightGradKernels& kernels = c.kernels().gradient->conv_weights;
  ConvWeightGradArgs args;
  args.shape = {window.batch, window.channels, g.out_channels, g.groups, window.in, window.out, window.kernel, window.stride,
                window.dilation, window.pad};
  args.plain_input = c.in_type(1).block == 0;
  args.bias = c.has_output(1);
  args.exact = c.options().exact_convolution;
  const Buffer sums = kernels.sums_bytes(args) > 0 ? c.temporary(kernels.sums_bytes(args)) : Buffer{};
  emit_kernel(c, "conv_weight_sums", kernels.sums, args,
              [sums, dy = c.in(0), x = c.in(1), dw = c.out()](ConvWeightGradArgs& a, const Run& run) {
                a.input = run.get<const float>(x);
                a.dy = run.get<const float>(dy);
                a.sums = run.get<float>(sums);
                a.dw = run.get<float>(dw);
              });
  if (kernels.finish.tasks(args) == 0) return;
  emit_kernel(c, "conv_weight_finish", kernels.finish, args,
              [sums, dw = c.out(), db = args.bias ? c.out(1) : Buffer{}](ConvWeightGradArgs& a, const Run& run) {
                a.sums = run.get<float>(sums);
                a.dw = run.get<float>(dw);
                a.db = run.get<float>(db);
              });
}

constexpr int64_t kMostImages = 1 << 20;  // on plain layouts, where every image has steps of its own in the plan

/// db from a plain dy.
Status emit_bias(LowerContext& c) {
  std::vector<bool> reduced(c.in_dims(0).size(), true);
  reduced[1] = false;
  return emit_reduction(c, kernels::ReduceOp::kSum, reduced, 1);
}

Status lower_conv_grad_weights(LowerContext& c) {
  SV_ASSIGN(const ConvGrad g, conv_grad_of(c.attributes(), c.in_dims(1), c.out_dims()));
  if (c.in_type(0).block) {
    emit_blocked(c, g);
    return {};
  }
  if (g.window.batch > kMostImages) return unimplemented("a batch of {} images, supported are {}", g.window.batch, kMostImages);
  if (wide::is_wide(c)) wide::emit_conv_grad_weights(c, g);
  else emit_conv_grad_weights(c, g, c.in(0), c.in(1), c.out());
  return c.has_output(1) ? emit_bias(c) : Status{};
}

Status infer_conv_grad_weights(InferContext& c) {
  SV_TRY(infer_conv_grad(c));
  SV_ASSIGN(const Shape w, like_shape(c, 2));
  if (w.has_rank() && w.rank() < 3) return error("W {} must have at least 3 dimensions", to_string(w));
  SV_TRY(check_conv_grad(c, c.shape(1), w));
  c.set(1, c.dtype(0), w.has_rank() ? Shape({w[0]}) : Shape());
  return {};
}

Cost conv_grad_weights_cost(const Node& node) { return conv_grad_cost(node, node.input(0)->type, node.output()->type); }

/// One group, or groups of as many inputs as outputs that lie within a block.
bool has_blocked_kernel(int64_t groups, int64_t inputs, int64_t outputs, int block) {
  return groups == 1 || (groups > 1 && inputs == outputs && outputs % groups == 0 && block % (outputs / groups) == 0);
}

bool can_block_conv_grad_weights(const Node& node, int block) {
  const Shape &dy = node.input(0)->type.shape, &x = node.input(1)->type.shape, &w = node.output()->type.shape;
  if (w.rank() != 4 || node.output()->type.dtype != DType::f32) return false;
  for (const Shape* shape : {&dy, &x, &w})
    if (!shape->is_static() || element_count(*shape->concrete()) == 0) return false;
  return has_blocked_kernel(node.attributes.get_int("group", 1), x[1].value(), w[0].value(), block);
}

bool reads_plain(const Node& node, size_t input) {
  const Shape& x = node.input(1)->type.shape;
  const std::vector<int64_t> dilations = node.attributes.get_ints("dilations");
  return input == 1 && node.attributes.get_int("group", 1) == 1 && x[1].value() <= kFirstLayerChannels &&
         (dilations.empty() || dilations.back() == 1);
}

}  // namespace

OpDef define_conv_grad_weights() {
  return {
      .name = "ConvGradWeights",
      .domain = kInternalDomain,
      .inputs = "dy, X, W?",
      .outputs = {1, 2},
      .attributes = conv_grad_attributes(),
      .infer = infer_conv_grad_weights,
      .lower = lower_conv_grad_weights,
      .cost = conv_grad_weights_cost,
      .traits = {.shape_only_input = 2},
      .blocked =
          {.mode = BlockedMode::prefers, .can_block = can_block_conv_grad_weights, .reads_plain = reads_plain, .inputs = {1}, .writes_plain = true},
      .tolerance = {.rtol = 1e-5, .atol = 1e-4},
      .samples = "(float32[2, 7, 11, 9], float32[2, 3, 11, 9], float32[7, 3, 3, 3]) {pads = [1, 1, 1, 1]} 2"
                 "(float32[3, 18, 8, 8], float32[3, 20, 8, 8]) {shape = [18, 20, 1, 1]}"
                 "(float32[2, 18, 5, 6], float32[2, 20, 9, 12], float32[18, 20, 3, 3]) {pads = [1, 1, 1, 1], strides = [2, 2]}"
                 "(float32[1, 5, 6, 5], float32[1, 3, 6, 7], float32[5, 3, 3, 3]) {pads = [2, 1, 2, 1], dilations = [2, 2]}"
                 "(float32[1, 8, 4, 3], float32[1, 6, 9, 7], float32[8, 3, 3, 2]) {group = 2, strides = [2, 2]} 2"
                 "(float32[2, 19, 9, 8], float32[2, 19, 9, 8], float32[19, 1, 3, 3]) {group = 19, pads = [1, 1, 1, 1]} 2"
                 "(float64[2, 7, 5, 4], float64[2, 3, 5, 4], float64[7, 3, 3, 3]) {pads = [1, 1, 1, 1]} 2",
  };
}

}  // namespace svengine::ops
