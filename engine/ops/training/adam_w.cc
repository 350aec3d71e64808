// svengine.AdamW: Adam as PyTorch has it, with weight decay apart from the gradient (weight_decay: AdamW) or in it
// (norm_coefficient: Adam's weight_decay). T counts the steps done before this one.
//
//   m = alpha m + (1 - alpha) g,  v = beta v + (1 - beta) g^2,  t = T + 1
//   x = (1 - R weight_decay) x - R / (1 - alpha^t) m / (sqrt(v / (1 - beta^t)) + epsilon)
#include <cmath>

#include "engine/ops/training/optimizer_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kAdamWTensors = 4;  // X, G, V, H

void set_adam_w_rates(const Attributes& attributes, double rate, int64_t steps, kernels::OptimizerArgs& args) {
  const double alpha = attributes.get_float("alpha", 0.9f), beta = attributes.get_float("beta", 0.999f), t = static_cast<double>(steps) + 1;
  args.rate = static_cast<float>(rate / (1 - std::pow(alpha, t)));
  args.h_scale = static_cast<float>(1 / std::sqrt(1 - std::pow(beta, t)));
  args.before = static_cast<float>(1 - rate * attributes.get_float("weight_decay", 0.0f));
}

Status lower_adam_w(LowerContext& c) { return lower_optimizer(c, adam_args(c.attributes(), 1e-8f), kAdamWTensors, set_adam_w_rates); }

}  // namespace

OpDef define_adam_w() {
  return {
      .name = "AdamW",
      .domain = kInternalDomain,
      .inputs = "R, T, inputs...",
      .outputs = {3, kVariadic},
      .attributes = {{"alpha", AttributeKind::kFloat, false, 0.9f},
                     {"beta", AttributeKind::kFloat, false, 0.999f},
                     {"norm_coefficient", AttributeKind::kFloat, false, 0.0f},
                     {"weight_decay", AttributeKind::kFloat, false, 0.0f},
                     {"epsilon", AttributeKind::kFloat, false, 1e-8f}},
      .infer = [](InferContext& c) { return infer_optimizer(c, kAdamWTensors); },
      .lower = lower_adam_w,
      .samples = "(float32[] 0.1 to 0.2, int64[]{3}, float32[33], float32[33], float32[33], float32[33] 0.1 to 3) {weight_decay = 0.01} 3",
  };
}

}  // namespace svengine::ops
