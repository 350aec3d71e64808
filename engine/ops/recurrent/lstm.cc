// LSTM: one layer of long short-term memory.
#include "engine/ops/recurrent/recurrent_common.h"

namespace svengine::ops {

OpDef define_lstm() {
  OpDef op = recurrent_op("LSTM", 4);
  op.attributes.push_back({"input_forget", AttributeKind::kInt, false, 0});
  op.samples = "(float32[5, 3, 7], float32[1, 76, 7], float32[1, 76, 19] -0.5 to 0.5, float32[1, 152]) {hidden_size = 19} 3"
               "(float32[5, 3, 4], float32[2, 24, 4], float32[2, 24, 6], float32[2, 48], int32[3]{5, 1, 4}, float32[2, 3, 6], "
               R"(float32[2, 3, 6], float32[2, 18]) {direction = "bidirectional"} 3)"
               "(float32[7, 2, 5], float32[1, 160, 5], float32[1, 160, 40] -0.5 to 0.5, float32[1, 320]) {layout = 1, "
               R"(direction = "reverse"} 3)"
               "(float32[1, 1, 1], float32[1, 4, 1], float32[1, 4, 1]) {input_forget = 1, clip = 0.5}"
               "(float32[3, 2, 4], float32[1, 12, 4], float32[1, 12, 3], float32[1, 24]) "
               R"({activations = ["Affine", "LeakyRelu", "ThresholdedRelu"], activation_alpha = [0.3, 0.2, 0.1], activation_beta = [0.4]} 3)"
               "(float64[3, 2, 4], float64[1, 12, 4], float64[1, 12, 3], float64[1, 24]) 3"
               "(float64[5, 3, 4], float64[2, 44, 4], float64[2, 44, 11], float64[2, 88], int32[3]{5, 1, 4}, float64[2, 3, 11], "
               R"(float64[2, 3, 11], float64[2, 33]) {direction = "bidirectional"} 3)"
               "(float16[2, 2, 3], float16[1, 8, 3], float16[1, 8, 2]) 3";
  return op;
}

}  // namespace svengine::ops
