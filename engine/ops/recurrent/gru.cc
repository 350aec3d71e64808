// GRU: one layer of gated recurrent units.
#include "engine/ops/recurrent/recurrent_common.h"

namespace svengine::ops {

OpDef define_gru() {
  OpDef op = recurrent_op("GRU", 3);
  op.attributes.push_back({"linear_before_reset", AttributeKind::kInt, false, 0});
  op.samples = "(float32[5, 3, 7], float32[1, 57, 7], float32[1, 57, 19] -0.5 to 0.5, float32[1, 114]) {hidden_size = 19, "
               "linear_before_reset = 1} 2"
               "(float32[3, 5, 4], float32[2, 18, 4], float32[2, 18, 6], float32[2, 36], int32[3]{2, 5, 3}, float32[3, 2, 6]) "
               R"({direction = "bidirectional", layout = 1} 2)"
               "(float32[2, 9, 5], float32[1, 120, 5], float32[1, 120, 40] -0.5 to 0.5, float32[1, 240]) 2"
               R"((float32[1, 1, 1], float32[1, 3, 1], float32[1, 3, 1]) {direction = "reverse", activations = ["HardSigmoid", "Softsign"]})"
               "(float64[4, 2, 3], float64[1, 15, 3], float64[1, 15, 5], float64[1, 30]) {linear_before_reset = 1, clip = 0.75} 2"
               "(float64[5, 3, 4], float64[2, 33, 4], float64[2, 33, 11], float64[2, 66], int32[3]{2, 5, 3}, float64[2, 3, 11]) "
               R"({direction = "bidirectional"} 2)"
               "(bfloat16[2, 2, 3], bfloat16[1, 6, 3], bfloat16[1, 6, 2]) 2";
  return op;
}

}  // namespace svengine::ops
