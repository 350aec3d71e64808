// GroupNormalization, and InstanceNormalization, whose groups are channels: x [N, C, ...], a scale and a bias for each channel.
#pragma once
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

constexpr int64_t kGroupsAreChannels = 0;

/// Output 0 is as x; scale and bias have one element a channel.
Status infer_group_norm(InferContext& c);
Status lower_group_norm(LowerContext& c, int64_t groups);
Status group_norm_gradient(GradientContext& c, int64_t groups);

}  // namespace svengine::ops
