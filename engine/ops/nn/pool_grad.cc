// svengine.PoolGrad: the gradient of MaxPool (mode "max") or AveragePool ("average"). Inputs: dy, and the pooled image, of which
// an average reads the shape only; the attributes are the pooling's.
#include "engine/graph/gradient.h"
#include "engine/kernels/gradient.h"
#include "engine/ops/adjoint/wide_gradients.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/nn/pool_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

bool is_max(const Attributes& attributes) { return attributes.get_string("mode") == "max"; }

Status infer_pool_grad(InferContext& c) {
  if (!is_max(c.attributes()) && c.attributes().get_string("mode") != "average")
    return error("mode is '{}', needs max or average", c.attributes().get_string("mode"));
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, {c.dtype(0)}));
  return infer_pool_gradient(c);
}

Status lower_pool_grad(LowerContext& c) {
  SV_ASSIGN(kernels::PoolShape shape, pool_shape(c.attributes(), c.out_dims()));
  kernels::PoolGradArgs args;
  args.kind = is_max(c.attributes()) ? kernels::PoolKind::kMax : kernels::PoolKind::kAverage;
  args.shape = shape;
  args.blocked = c.out_type().block > 0;
  args.count_padding = c.attributes().get_int("count_include_pad") != 0;
  if (wide::is_wide(c)) {
    wide::emit_pool_grad(c, args);
    return {};
  }
  emit_kernel(c, is_max(c.attributes()) ? "max_pool_grad" : "average_pool_grad", c.kernels().gradient->pool, args,
              [dy = c.in(0), x = c.in(1), dx = c.out()](kernels::PoolGradArgs& a, const Run& run) {
                a.dy = run.get<const float>(dy);
                a.x = run.get<const float>(x);
                a.dx = run.get<float>(dx);
              });
  return {};
}

/// Linear in dy: the transpose is the average, or what stands where the maxima are.
Status pool_grad_gradient(GradientContext& c) {
  Attributes attributes = c.attributes();
  attributes.erase("mode");
  if (!is_max(c.attributes())) {
    attributes.erase("storage_order");
    c.set(0, c.op("AveragePool", {c.dy()}, std::move(attributes)));
    return {};
  }
  attributes.erase("count_include_pad");
  attributes.erase("storage_order");  // which would number the places in columns
  const Node* maxima = c.builder().node("", "MaxPool", {c.input(1)}, 2, std::move(attributes));
  if (!maxima) return {};
  Value* flat = c.op("Reshape", {c.dy(), c.builder().integers({-1})});
  c.set(0, c.op("Gather", {flat, maxima->output(1)}, make_attributes({{"axis", int64_t{0}}})));
  return {};
}

bool can_block_pool_grad(const Node& node, int) {
  return node.output()->type.shape.rank() == 4 && (node.input(0)->type.block > 0 || node.input(1)->type.block > 0);
}

}  // namespace

OpDef define_pool_grad() {
  return {
      .name = "PoolGrad",
      .domain = kInternalDomain,
      .inputs = "dy, X",
      .attributes = window_attributes({{"mode", AttributeKind::kString, true},
                                       {"count_include_pad", AttributeKind::kInt, false, 0},
                                       {"storage_order", AttributeKind::kInt, false, 0}},
                                      true, true),
      .infer = infer_pool_grad,
      .lower = lower_pool_grad,
      .gradient = pool_grad_gradient,
      .traits = {.linear_input = 0},
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_pool_grad, .inputs = {1}},
      .samples = R"((float32[2, 18, 5, 4], float32[2, 18, 9, 7]) {mode = "max", kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]})"
                 R"((float32[2, 3, 9, 7], float32[2, 3, 9, 7]) {mode = "average", kernel_shape = [3, 3], pads = [1, 1, 1, 1]})"
                 R"((float64[1, 2, 4, 4], float64[1, 2, 5, 5]) {mode = "max", kernel_shape = [2, 2]})",
  };
}

}  // namespace svengine::ops
