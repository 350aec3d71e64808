// svengine.BatchNormRelu: Y = max(BatchNormalization(X, scale, B, mean, var) + residual, 0), made by fusion before
// differentiation: the normalised values are never in memory, and its gradient takes the Relu's along (BatchNormGrad). Inputs as
// BatchNormalization's, then the residual, of X's shape and optional.
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/batch_norm_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kResidual = 5;

Status infer_batch_norm_relu(InferContext& c) {
  SV_TRY(infer_batch_norm(c));
  if (!c.has_input(kResidual)) return {};
  const Shape &x = c.shape(0), &residual = c.shape(kResidual);
  if (x.is_static() && residual.is_static() && !(x == residual))
    return error("residual {} is not of the shape of X, {}", to_string(residual), to_string(x));
  return {};
}

bool can_block_batch_norm_relu(const Node& node, int) { return node.input(0)->type.block > 0; }

/// With a residual, what passes the Relu is needed for itself, and is seen from Y; without one it is seen from X.
Status batch_norm_relu_gradient(GradientContext& c) {
  if (c.input(kResidual)) return batch_norm_gradient(c, {nullptr, c.output()}, kResidual);
  return batch_norm_gradient(c, {c.input(2)});
}

}  // namespace

OpDef define_batch_norm_relu() {
  return {
      .name = "BatchNormRelu",
      .domain = kInternalDomain,
      .inputs = "X, scale, B, input_mean, input_var, residual?",
      .outputs = {1, 5},
      .attributes = {{"epsilon", AttributeKind::kFloat, false, 1e-5f},
                     {"momentum", AttributeKind::kFloat, false, 0.9f},
                     {"training_mode", AttributeKind::kInt, false, 0}},
      .infer = infer_batch_norm_relu,
      .lower = [](LowerContext& c) { return lower_batch_norm(c, c.in(kResidual), {kernels::Activation::kRelu}); },
      .types = {{"T", kSingleTypes, {0, kResidual}}, {"T1", kSingleTypes, {1, 2}}, {"T2", kSingleTypes, {3, 4}}},
      .gradient = batch_norm_relu_gradient,
      .traits = {.running_statistics = RunningStatistics{.mean = 3, .variance = 4}},
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_batch_norm_relu, .inputs = {kResidual}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 5, 7, 3], float32[5], float32[5], float32[5], float32[5] 0.5 to 2)"
                 "(float32[3, 18], float32[18], float32[18], float32[18], float32[18] 0.5 to 2, float32[3, 18])"
                 "(float32[4, 3, 9], float32[3], float32[3], float32[3], float32[3] 0.5 to 2) {training_mode = 1} 3"
                 "(float32[2, 5, 4, 3], float32[5], float32[5], float32[5], float32[5] 0.5 to 2, float32[2, 5, 4, 3]) {training_mode = 1} 5",
  };
}

}  // namespace svengine::ops
