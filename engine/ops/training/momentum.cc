// Momentum (ai.onnx.preview.training): stochastic gradient descent with momentum, standard or Nesterov's. PyTorch's SGD is this
// with beta = 1 - dampening.
#include "engine/ops/training/optimizer_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kMomentumTensors = 3;  // X, G, V

Status infer_momentum(InferContext& c) {
  const std::string mode = c.attributes().get_string("mode", "standard");
  if (mode != "standard" && mode != "nesterov") return error("mode is '{}', needs standard or nesterov", mode);
  return infer_optimizer(c, kMomentumTensors);
}

/// In the first step the gradient counts whole.
void set_momentum_rates(const Attributes& attributes, double rate, int64_t steps, kernels::OptimizerArgs& args) {
  args.rate = static_cast<float>(rate);
  args.share = steps > 0 ? attributes.get_float("beta", 1.0f) : 1.0f;
}

Status lower_momentum(LowerContext& c) {
  kernels::OptimizerArgs args;
  args.rule = kernels::OptimizerRule::kSgd;
  args.momentum = c.attributes().get_float("alpha", 0.0f);
  args.decay = c.attributes().get_float("norm_coefficient", 0.0f);
  args.nesterov = c.attributes().get_string("mode", "standard") == "nesterov";
  return lower_optimizer(c, args, kMomentumTensors, set_momentum_rates);
}

}  // namespace

OpDef define_momentum() {
  return {
      .name = "Momentum",
      .domain = kTrainingDomain,
      .since = 1,
      .until = 1,
      .inputs = "R, T, inputs...",
      .outputs = {2, kVariadic},
      .attributes = {{"alpha", AttributeKind::kFloat, true},
                     {"beta", AttributeKind::kFloat, true},
                     {"mode", AttributeKind::kString, true},
                     {"norm_coefficient", AttributeKind::kFloat, true}},
      .infer = infer_momentum,
      .lower = lower_momentum,
      .samples = R"((float32[] 0.1 to 0.2, int64[]{3}, float32[33], float32[33], float32[33]) {alpha = 0.9, beta = 0.5, mode = "nesterov", )"
                 "norm_coefficient = 0.01} 2"
                 "(float32[] 0.1 to 0.2, int64[]{0}, float32[3, 5], float32[7], float32[3, 5], float32[7], float32[3, 5], float32[7]) "
                 R"({alpha = 0.9, beta = 0.5, mode = "standard", norm_coefficient = 0.0} 4)",
  };
}

}  // namespace svengine::ops
