// InstanceNormalization: every channel of every image to mean 0 and variance 1, then times scale plus bias.
#include "engine/ops/nn/group_norm_common.h"

namespace svengine::ops {
namespace {

Status infer_instance_normalization(InferContext& c) {
  SV_TRY(require_rank_at_least(c, 0, 3));
  return infer_group_norm(c);
}

Status lower_instance_normalization(LowerContext& c) { return lower_group_norm(c, kGroupsAreChannels); }

Status instance_normalization_gradient(GradientContext& c) { return group_norm_gradient(c, kGroupsAreChannels); }

}  // namespace

OpDef define_instance_normalization() {
  return {
      .name = "InstanceNormalization",
      .inputs = "input, scale, B",
      .attributes = {{"epsilon", AttributeKind::kFloat, false, 1e-5f}},
      .infer = infer_instance_normalization,
      .lower = lower_instance_normalization,
      .types = {{"T", kRealTypes, {0, 1, 2}}},
      .gradient = instance_normalization_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 5, 7], float32[3], float32[3])"
                 "(float32[1, 4, 65], float32[4], float32[4])"
                 "(float64[2, 3, 15], float64[3], float64[3])",
  };
}

}  // namespace svengine::ops
