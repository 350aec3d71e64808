// svengine.Lamb: Adam's direction, every tensor at a rate of its own (You et al., ICLR 2020, arXiv 1904.00962, algorithm 2 with its
// corrections of the running means): kernels/layerwise_optimizer.h has the formulas. adapt = 0: the same for all, which is AdamW
// with the decay beside the quotient. T counts the steps done before this one.
#include <cmath>

#include "engine/ops/training/optimizer_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kLambTensors = 4;  // X, G, V, H

void set_lamb_rates(const Attributes& attributes, double rate, int64_t steps, kernels::LayerwiseArgs& args) {
  const double alpha = attributes.get_float("alpha", 0.9f), beta = attributes.get_float("beta", 0.999f), t = static_cast<double>(steps) + 1;
  args.rate = static_cast<float>(rate);
  args.v_scale = static_cast<float>(1 / (1 - std::pow(alpha, t)));
  args.h_scale = static_cast<float>(1 / std::sqrt(1 - std::pow(beta, t)));
}

Status lower_lamb(LowerContext& c) {
  kernels::LayerwiseArgs args;
  args.rule = kernels::LayerwiseRule::kLamb;
  args.momentum = c.attributes().get_float("alpha", 0.9f);
  args.share = 1 - args.momentum;
  args.h_momentum = c.attributes().get_float("beta", 0.999f);
  args.h_share = 1 - args.h_momentum;
  args.decay = c.attributes().get_float("weight_decay", 0.0f);
  args.epsilon = c.attributes().get_float("epsilon", 1e-6f);
  return lower_layerwise(c, args, set_lamb_rates);
}

}  // namespace

OpDef define_lamb() {
  return {
      .name = "Lamb",
      .domain = kInternalDomain,
      .inputs = "R, T, inputs...",
      .outputs = {3, kVariadic},
      .attributes = {{"alpha", AttributeKind::kFloat, false, 0.9f},
                     {"beta", AttributeKind::kFloat, false, 0.999f},
                     {"weight_decay", AttributeKind::kFloat, false, 0.0f},
                     {"epsilon", AttributeKind::kFloat, false, 1e-6f},
                     {"adapt", AttributeKind::kInt, false, 1}},
      .infer = [](InferContext& c) { return infer_optimizer(c, kLambTensors); },
      .lower = lower_lamb,
      .samples = "(float32[] 0.1 to 0.2, int64[]{3}, float32[5, 4001], float32[5, 4001], float32[5, 4001], float32[5, 4001] 0.1 to 3) "
                 "{weight_decay = 0.01} 3",
  };
}

}  // namespace svengine::ops
