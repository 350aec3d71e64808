// Momentum (ai.onnx.preview.training): stochastic gradient descent with momentum, standard or Nesterov's. PyTorch's SGD is this
// with beta = 1 - dampening.
#include "engine/ops/samples.h"
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
      .inputs = {5, kVariadic},
      .outputs = {2, kVariadic},
      .attributes = {{"alpha", AttributeKind::kFloat, true},
                     {"beta", AttributeKind::kFloat, true},
                     {"mode", AttributeKind::kString, true},
                     {"norm_coefficient", AttributeKind::kFloat, true}},
      .infer = infer_momentum,
      .lower = lower_momentum,
      .samples = {{.inputs = {f32({}, 0.1, 0.2), fixed(Tensor::scalar<int64_t>(3)), f32({33}), f32({33}), f32({33})},
                   .attributes = {{"alpha", real(0.9f)},
                                  {"beta", real(0.5f)},
                                  {"mode", text("nesterov")},
                                  {"norm_coefficient", real(0.01f)}},
                   .outputs = 2},
                  {.inputs = {f32({}, 0.1, 0.2), fixed(Tensor::scalar<int64_t>(0)), f32({3, 5}), f32({7}), f32({3, 5}), f32({7}),
                              f32({3, 5}), f32({7})},
                   .attributes =
                       {{"alpha", real(0.9f)}, {"beta", real(0.5f)}, {"mode", text("standard")}, {"norm_coefficient", real(0)}},
                   .outputs = 4}},
  };
}

}  // namespace svengine::ops
