// RNN: one layer of the simplest recurrent cell, h' = f(x W' + h R' + biases).
#include "engine/ops/recurrent/recurrent_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {

OpDef define_rnn() {
  OpDef op = recurrent_op("RNN", 1);
  const SampleInput lengths = fixed(Tensor::of<int32_t>({3}, {5, 0, 2}));
  op.samples = {
      {.inputs = {f32({5, 3, 7}), f32({1, 19, 7}), f32({1, 19, 19}, -0.5, 0.5)},
       .attributes = {{"hidden_size", integer(19)}},
       .outputs = 2},
      {.inputs = {f32({5, 3, 4}), f32({2, 6, 4}), f32({2, 6, 6}), f32({2, 12}), lengths, f32({2, 3, 6})},
       .attributes = {{"direction", text("bidirectional")},
                      {"activations", std::vector<std::string>{"Elu", "ScaledTanh"}},
                      {"activation_alpha", std::vector<float>{0.7f, 1.2f}},
                      {"activation_beta", std::vector<float>{0.6f}}},
       .outputs = 2},
      {.inputs = {f32({1, 1, 1}), f32({1, 1, 1}), f32({1, 1, 1})},
       .attributes = {{"direction", text("reverse")}, {"clip", real(0.5f)}}},
      {.inputs = {any(DType::f64, {2, 4, 3}), any(DType::f64, {1, 5, 3}), any(DType::f64, {1, 5, 5}), any(DType::f64, {1, 10})},
       .attributes = {{"layout", integer(1)}, {"activations", std::vector<std::string>{"Softplus"}}},
       .outputs = 2},
      {.inputs = {any(DType::f16, {2, 2, 3}), any(DType::f16, {1, 2, 3}), any(DType::f16, {1, 2, 2})}, .outputs = 2},
  };
  return op;
}

}  // namespace svengine::ops
