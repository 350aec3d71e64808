// RNN: one layer of the simplest recurrent cell, h' = f(x W' + h R' + biases).
#include "engine/ops/recurrent/recurrent_common.h"

namespace svengine::ops {

OpDef define_rnn() {
  OpDef op = recurrent_op("RNN", 1);
  op.samples = "(float32[5, 3, 7], float32[1, 19, 7], float32[1, 19, 19] -0.5 to 0.5) {hidden_size = 19} 2"
               "(float32[5, 3, 4], float32[2, 6, 4], float32[2, 6, 6], float32[2, 12], int32[3]{5, 0, 2}, float32[2, 3, 6]) "
               R"({direction = "bidirectional", activations = ["Elu", "ScaledTanh"], activation_alpha = [0.7, 1.2], )"
               "activation_beta = [0.6]} 2"
               R"((float32[1, 1, 1], float32[1, 1, 1], float32[1, 1, 1]) {direction = "reverse", clip = 0.5})"
               R"((float64[2, 4, 3], float64[1, 5, 3], float64[1, 5, 5], float64[1, 10]) {layout = 1, activations = ["Softplus"]} 2)"
               "(float16[2, 2, 3], float16[1, 2, 3], float16[1, 2, 2]) 2";
  return op;
}

}  // namespace svengine::ops
