// Adagrad (ai.onnx.preview.training): steps divided by the root of all squared gradients so far.
#include "engine/ops/training/optimizer_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kAdagradTensors = 3;  // X, G, H

void set_adagrad_rates(const Attributes& attributes, double rate, int64_t steps, kernels::OptimizerArgs& args) {
  args.rate = static_cast<float>(rate / (1 + static_cast<double>(steps) * attributes.get_float("decay_factor", 0.0f)));
}

Status lower_adagrad(LowerContext& c) {
  kernels::OptimizerArgs args;
  args.rule = kernels::OptimizerRule::kAdagrad;
  args.decay = c.attributes().get_float("norm_coefficient", 0.0f);
  args.epsilon = c.attributes().get_float("epsilon", 1e-6f);
  return lower_optimizer(c, args, kAdagradTensors, set_adagrad_rates);
}

}  // namespace

OpDef define_adagrad() {
  return {
      .name = "Adagrad",
      .domain = kTrainingDomain,
      .since = 1,
      .until = 1,
      .inputs = "R, T, inputs...",
      .outputs = {2, kVariadic},
      .attributes = {{"norm_coefficient", AttributeKind::kFloat, false, 0.0f},
                     {"epsilon", AttributeKind::kFloat, false, 1e-6f},
                     {"decay_factor", AttributeKind::kFloat, false, 0.0f}},
      .infer = [](InferContext& c) { return infer_optimizer(c, kAdagradTensors); },
      .lower = lower_adagrad,
      .samples = "(float32[] 0.1 to 0.2, int64[]{3}, float32[33], float32[33], float32[33] 0 to 3) {norm_coefficient = 0.01, "
                 "epsilon = 0.1, decay_factor = 0.2} 2",
  };
}

}  // namespace svengine::ops
