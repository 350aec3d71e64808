// svengine.Sgd: stochastic gradient descent without momentum, x - R (g + norm_coefficient x). With momentum: Momentum of
// ai.onnx.preview.training.
#include "engine/ops/training/optimizer_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kSgdTensors = 2;  // X, G

void set_sgd_rates(const Attributes&, double rate, int64_t, kernels::OptimizerArgs& args) { args.rate = static_cast<float>(rate); }

Status lower_sgd(LowerContext& c) {
  kernels::OptimizerArgs args;
  args.rule = kernels::OptimizerRule::kSgd;
  args.decay = c.attributes().get_float("norm_coefficient", 0.0f);
  return lower_optimizer(c, args, kSgdTensors, set_sgd_rates);
}

}  // namespace

OpDef define_sgd() {
  return {
      .name = "Sgd",
      .domain = kInternalDomain,
      .inputs = "R, T, inputs...",
      .outputs = {1, kVariadic},
      .attributes = {{"norm_coefficient", AttributeKind::kFloat, false, 0.0f}},
      .infer = [](InferContext& c) { return infer_optimizer(c, kSgdTensors); },
      .lower = lower_sgd,
      .samples = "(float32[] 0.1 to 0.2, int64[]{0}, float32[33], float32[4, 5], float32[33], float32[4, 5]) {norm_coefficient = 0.01} 2",
  };
}

}  // namespace svengine::ops
