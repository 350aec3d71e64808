// com.microsoft.CausalConvWithState.
#include "engine/ops/language/causal_conv_common.h"
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {

OpDef define_microsoft_causal_conv_with_state() {
  OpDef op{
      .name = "CausalConvWithState",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input, weight, bias?, past_state?",
      .outputs = {2, 3},
      .attributes = {{"activation", AttributeKind::kString, false, "none"}, {"state_channels_last", AttributeKind::kInt, false, -1}},
      .expand = expand_causal_conv,
      .infer = infer_causal_conv,
      .types = {{"T", kSingleTypes, {0, 1, 2, 3}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = R"((float32[2, 5, 7], float32[5, 1, 4], float32[5], float32[2, 5, 3]) {activation = "silu"} 2)"
                 "(float32[1, 7, 2, 3], float32[6, 1, 3], -, float32[1, 4, 2, 3]) {channels_last = 1, dilation = 2} 2"
                 "(float32[2, 3, 4], float32[3, 1, 3], -, float32[5, 2, 3, 2]) {state_window = 5} 2"
                 "(float32[1, 1, 1], float32[1, 1, 1]) 2",
  };
  for (const char* name : {"dilation", "ndim"}) op.attributes.push_back({name, AttributeKind::kInt, false, 1});
  for (const char* name : {"channels_last", "state_window", "state_update_capacity", "state_length", "input_channel_offset", "input_channels"})
    op.attributes.push_back({name, AttributeKind::kInt, false, 0});
  return op;
}

}  // namespace svengine::ops
