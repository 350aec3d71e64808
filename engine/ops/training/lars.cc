// svengine.Lars: stochastic gradient descent with momentum, every tensor at a rate of its own (You, Gitman, Ginsburg 2017, arXiv
// 1708.03888): kernels/layerwise_optimizer.h has the formulas. adapt = 0: the same for all.
#include "engine/ops/training/optimizer_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kLarsTensors = 3;  // X, G, V

void set_lars_rates(const Attributes&, double rate, int64_t, kernels::LayerwiseArgs& args) { args.rate = static_cast<float>(rate); }

Status lower_lars(LowerContext& c) {
  kernels::LayerwiseArgs args;
  args.rule = kernels::LayerwiseRule::kLars;
  args.momentum = c.attributes().get_float("alpha", 0.9f);
  args.decay = c.attributes().get_float("norm_coefficient", 0.0f);
  args.trust = c.attributes().get_float("trust", 0.001f);
  return lower_layerwise(c, args, set_lars_rates);
}

}  // namespace

OpDef define_lars() {
  return {
      .name = "Lars",
      .domain = kInternalDomain,
      .inputs = "R, T, inputs...",
      .outputs = {2, kVariadic},
      .attributes = {{"alpha", AttributeKind::kFloat, false, 0.9f},
                     {"norm_coefficient", AttributeKind::kFloat, false, 0.0f},
                     {"trust", AttributeKind::kFloat, false, 0.001f},
                     {"adapt", AttributeKind::kInt, false, 1}},
      .infer = [](InferContext& c) { return infer_optimizer(c, kLarsTensors); },
      .lower = lower_lars,
      .samples = "(float32[] 0.1 to 0.2, int64[]{3}, float32[33], float32[5, 4001], float32[33], float32[5, 4001], float32[33], "
                 "float32[5, 4001]) {norm_coefficient = 0.01, trust = 0.5} 4",
  };
}

}  // namespace svengine::ops
