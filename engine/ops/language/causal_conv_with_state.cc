// CausalConvWithState of ai.onnx.
#include "engine/ops/language/causal_conv_common.h"

namespace svengine::ops {

OpDef define_causal_conv_with_state() {
  return {
      .name = "CausalConvWithState",
      .since = 27,
      .until = 28,
      .inputs = "input, weight, bias?, past_state?",
      .outputs = {2, 2},
      .attributes = {{"activation", AttributeKind::kString, false, "none"}},
      .expand = expand_causal_conv,
      .infer = infer_causal_conv,
      .types = {{"T", kSingleTypes, {0, 1, 2, 3}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 0, 5], float32[0, 1, 3]) 2"
                 R"((float32[2, 5, 7], float32[5, 1, 4], float32[5], float32[2, 5, 3]) {activation = "silu"} 2)"
                 "(float32[1, 3, 2], float32[3, 1, 4]) 2"
                 "(float32[1, 1, 1], float32[1, 1, 1]) 2",
  };
}

}  // namespace svengine::ops
