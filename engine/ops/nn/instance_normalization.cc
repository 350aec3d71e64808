// InstanceNormalization: every channel of every image to mean 0 and variance 1, then times scale plus bias.
#include "engine/kernels/norm.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

Status infer(InferContext& c) {
  static constexpr const char* kNames[] = {"input", "scale", "B"};
  SV_TRY(require_rank_at_least(c, 0, "input", 3));
  for (size_t i = 0; i < 3; ++i) {
    SV_TRY(require_dtype(c, i, kNames[i], {DType::f32}));
    if (i == 0) continue;
    SV_TRY(require_rank(c, i, kNames[i], 1));
    if (c.shape(0).has_rank() && c.shape(i).has_rank() && known_different(c.shape(0)[1], c.shape(i)[0]))
      return error("{} has {} elements, needs one for each of the {} channels", kNames[i], c.shape(i)[0].value(), c.shape(0)[1].value());
  }
  c.set(0, DType::f32, c.shape(0));
  return {};
}

Status lower(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  kernels::GroupNormArgs args;
  args.batch = dims[0];
  args.channels = args.groups = dims[1];
  args.spatial = element_count(std::span(dims).subspan(2));
  args.epsilon = c.attributes().real("epsilon", 1e-5f);
  emit_kernel(c, "instance_norm", c.kernels().norm->group_norm, args,
              [in = c.in(0), scale = c.in(1), bias = c.in(2), out = c.out()](kernels::GroupNormArgs& a, const Run& run) {
                a.x = run.get<const float>(in);
                a.y = run.get<float>(out);
                a.scale = run.get<const float>(scale);
                a.bias = run.get<const float>(bias);
              });
  return {};
}

}  // namespace

OpDef define_instance_normalization() {
  return {
      .name = "InstanceNormalization",
      .since = 6,
      .inputs = {3, 3},
      .attributes = {{"epsilon", AttributeKind::real, false, 1e-5f}},
      .infer = infer,
      .lower = lower,
      .rtol = 1e-5,
      .atol = 1e-5,
      .samples = {{.inputs = {f32({2, 3, 5, 7}), f32({3}), f32({3})}}, {.inputs = {f32({1, 4, 65}), f32({4}), f32({4})}}},
  };
}

}  // namespace svengine::ops
