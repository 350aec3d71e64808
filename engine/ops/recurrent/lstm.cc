// LSTM: one layer of long short-term memory.
#include "engine/ops/recurrent/recurrent_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {

OpDef define_lstm() {
  OpDef op = recurrent_op("LSTM", 4);
  op.attributes.push_back({"input_forget", AttributeKind::kInt, false, int64_t{0}});
  const SampleInput lengths = fixed(Tensor::of<int32_t>({3}, {5, 1, 4}));
  op.samples = {
      {.inputs = {f32({5, 3, 7}), f32({1, 76, 7}), f32({1, 76, 19}, -0.5, 0.5), f32({1, 152})},
       .attributes = {{"hidden_size", integer(19)}},
       .outputs = 3},
      {.inputs = {f32({5, 3, 4}), f32({2, 24, 4}), f32({2, 24, 6}), f32({2, 48}), lengths, f32({2, 3, 6}), f32({2, 3, 6}),
                  f32({2, 18})},
       .attributes = {{"direction", text("bidirectional")}},
       .outputs = 3},
      {.inputs = {f32({7, 2, 5}), f32({1, 160, 5}), f32({1, 160, 40}, -0.5, 0.5), f32({1, 320})},
       .attributes = {{"layout", integer(1)}, {"direction", text("reverse")}},
       .outputs = 3},
      {.inputs = {f32({1, 1, 1}), f32({1, 4, 1}), f32({1, 4, 1})},
       .attributes = {{"input_forget", integer(1)}, {"clip", real(0.5f)}}},
      {.inputs = {f32({3, 2, 4}), f32({1, 12, 4}), f32({1, 12, 3}), f32({1, 24})},
       .attributes = {{"activations", std::vector<std::string>{"Affine", "LeakyRelu", "ThresholdedRelu"}},
                      {"activation_alpha", std::vector<float>{0.3f, 0.2f, 0.1f}},
                      {"activation_beta", std::vector<float>{0.4f}}},
       .outputs = 3},
      {.inputs = {any(DType::f64, {3, 2, 4}), any(DType::f64, {1, 12, 4}), any(DType::f64, {1, 12, 3}), any(DType::f64, {1, 24})},
       .outputs = 3},
      {.inputs = {any(DType::f64, {5, 3, 4}), any(DType::f64, {2, 44, 4}), any(DType::f64, {2, 44, 11}), any(DType::f64, {2, 88}),
                  lengths, any(DType::f64, {2, 3, 11}), any(DType::f64, {2, 3, 11}), any(DType::f64, {2, 33})},
       .attributes = {{"direction", text("bidirectional")}},
       .outputs = 3},
      {.inputs = {any(DType::f16, {2, 2, 3}), any(DType::f16, {1, 8, 3}), any(DType::f16, {1, 8, 2})}, .outputs = 3},
  };
  return op;
}

}  // namespace svengine::ops
