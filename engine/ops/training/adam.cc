// Adam (ai.onnx.preview.training): steps along the gradient's running mean, divided by the root of its running square. epsilon
// stands beside the uncorrected root, unlike PyTorch's: see svengine.AdamW.
#include <cmath>

#include "engine/ops/training/optimizer_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kAdamTensors = 4;  // X, G, V, H

/// The running means start at zero: corrected for in the rate, from the second step on.
void set_adam_rates(const Attributes& attributes, double rate, int64_t steps, kernels::OptimizerArgs& args) {
  const double alpha = attributes.get_float("alpha", 0.9f), beta = attributes.get_float("beta", 0.999f), t = static_cast<double>(steps);
  args.rate = static_cast<float>(steps > 0 ? rate * std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t)) : rate);
}

Status lower_adam(LowerContext& c) {
  kernels::OptimizerArgs args = adam_args(c.attributes(), 1e-6f);
  args.after = 1 - c.attributes().get_float("norm_coefficient_post", 0.0f);
  return lower_optimizer(c, args, kAdamTensors, set_adam_rates);
}

}  // namespace

OpDef define_adam() {
  return {
      .name = "Adam",
      .domain = kTrainingDomain,
      .since = 1,
      .until = 1,
      .inputs = "R, T, inputs...",
      .outputs = {3, kVariadic},
      .attributes = {{"alpha", AttributeKind::kFloat, false, 0.9f},
                     {"beta", AttributeKind::kFloat, false, 0.999f},
                     {"norm_coefficient", AttributeKind::kFloat, false, 0.0f},
                     {"norm_coefficient_post", AttributeKind::kFloat, false, 0.0f},
                     {"epsilon", AttributeKind::kFloat, false, 1e-6f}},
      .infer = [](InferContext& c) { return infer_optimizer(c, kAdamTensors); },
      .lower = lower_adam,
      .samples = "(float32[] 0.1 to 0.2, int64[]{3}, float32[33], float32[33], float32[33], float32[33] 0 to 3) {norm_coefficient = 0.01, "
                 "norm_coefficient_post = 0.1, epsilon = 0.1} 3",
  };
}

}  // namespace svengine::ops
