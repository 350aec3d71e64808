// svengine.ChannelAffine: y = activation(x * scale[c] + shift[c]) per channel: BatchNormalization with known statistics that no
// convolution could take in, and the activation behind it.
#include "engine/ops/fused_activation.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/nn/batch_norm_common.h"

namespace svengine::ops {
namespace {

Status infer_channel_affine(InferContext& c) {
  SV_TRY(require_dtype(c, 0, {DType::f32}));
  SV_TRY(check_activation(c.attributes(), c.dtype(0)));
  SV_TRY(require_per_channel(c, 1));
  SV_TRY(require_per_channel(c, 2));
  SV_TRY(require_rank_at_least(c, 0, 1));
  c.set(0, DType::f32, c.shape(0));
  return {};
}

Status lower_channel_affine(LowerContext& c) {
  kernels::ChannelAffineArgs args = channel_affine_args(c);
  args.activation = activation_of(c.attributes());
  emit_kernel(c, "channel_affine", c.kernels().norm->channel_affine, args,
              [in = c.in(0), out = c.out(), scale = c.in(1), shift = c.in(2)](kernels::ChannelAffineArgs& a, const Run& run) {
                a.x = run.get<const float>(in);
                a.y = run.get<float>(out);
                a.scale = run.get<const float>(scale);
                a.shift = run.get<const float>(shift);
              });
  return {};
}

/// Worth it only where the input is blocked already: in the middle of a convolutional region.
bool can_block_channel_affine(const Node& node, int) { return node.input(0)->type.block > 0; }

}  // namespace

OpDef define_channel_affine() {
  return {
      .name = "ChannelAffine",
      .domain = kInternalDomain,
      .inputs = "X, scale, shift",
      .attributes = with_activation_attributes({}),
      .infer = infer_channel_affine,
      .lower = lower_channel_affine,
      .traits = {.may_overwrite = true},
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_channel_affine},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = R"((float32[2, 18, 7, 3], float32[18], float32[18]) {activation = "relu"})"
                 "(float32[3, 5], float32[5], float32[5])"
                 "(float32[4], float32[1], float32[1])",
  };
}

}  // namespace svengine::ops
