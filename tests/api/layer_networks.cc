// Writes one ONNX file for every layer of nn.hpp into a folder, for layers_test.py to compare with PyTorch's.
#include <svengine/nn.hpp>

#include <cstdio>
#include <functional>
#include <map>

namespace nn = svengine::nn;
using svengine::ElementType;

namespace {

using Shapes = std::vector<std::vector<int64_t>>;

bool write(const std::string& folder, const std::string& name, const nn::Layer& layer, const Shapes& inputs,
           ElementType type = ElementType::float32) {
  nn::Net net(7);
  std::vector<nn::Var> vars;
  for (size_t i = 0; i < inputs.size(); ++i) vars.push_back(net.input("x" + std::to_string(i), type, inputs[i]));
  const std::vector<nn::Var> out = net.apply_all(layer, vars);
  for (size_t i = 0; i < out.size(); ++i) net.output(out[i], "y" + std::to_string(i));
  if (net.save(folder + "/" + name + ".onnx")) return true;
  std::fprintf(stderr, "%s: %s\n", name.c_str(), net.error().c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  bool good = true;
  const auto add = [&](const std::string& name, const nn::Layer& layer, const Shapes& inputs, ElementType type = ElementType::float32) {
    good = write(folder, name, layer, inputs, type) && good;
  };
  add("linear", nn::Linear(37, 29), {{-1, 37}});
  add("linear_sequence", nn::Linear(37, 29, false), {{-1, 5, 37}});
  add("conv", nn::Conv2d(6, 10, 3, {2, 1, 1, 2, true}), {{-1, 6, 13, 11}});
  add("conv_dilated", nn::Conv2d(3, 5, 3, {1, 2, 2, 1, false}), {{-1, 3, 9, 10}});
  add("conv_transpose", nn::ConvTranspose2d(6, 4, 3, {2, 1, 1, 2, true}, 1), {{-1, 6, 5, 4}});
  add("batch_norm", nn::BatchNorm(7, 1e-3), {{-1, 7, 4, 3}});
  add("layer_norm", nn::LayerNorm({5, 6}), {{-1, 3, 5, 6}});
  add("embedding", nn::Embedding(11, 6), {{-1, 4}}, ElementType::int64);
  add("max_pool", nn::Sequential({nn::Conv2d(3, 4, 3), nn::MaxPool2d(3, 2, 1)}), {{-1, 3, 12, 9}});
  add("avg_pool", nn::Sequential({nn::Conv2d(3, 4, 3), nn::AvgPool2d(3, 2, 1)}), {{-1, 3, 12, 9}});
  add("global_pool", nn::Sequential({nn::Conv2d(3, 4, 3), nn::GlobalAvgPool(), nn::Flatten(), nn::Linear(4, 3)}), {{-1, 3, 12, 9}});
  add("flatten", nn::Sequential({nn::Linear(4, 6), nn::Flatten(2), nn::Linear(18, 5)}), {{-1, 2, 3, 4}});
  for (const char* name : {"relu", "gelu", "silu", "tanh", "sigmoid", "softplus", "leaky_relu", "elu", "hardswish", "softmax", "log_softmax"})
    add(std::string("activation_") + name, nn::Sequential({nn::Linear(9, 8), nn::Activation(name)}), {{-1, 9}});
  add("residual", nn::Residual(nn::Sequential({nn::Linear(9, 5), nn::GELU(), nn::Dropout(0.3), nn::Linear(5, 9)})), {{-1, 9}});
  add("attention", nn::MultiHeadAttention(24, 3), {{-1, 7, 24}});
  add("attention_masked", nn::MultiHeadAttention(24, 3, {0.0, false, false}), {{-1, 7, 24}, {7, 7}});
  add("attention_causal", nn::MultiHeadAttention(24, 3, {0.0, true, true}), {{-1, 7, 24}});
  add("attention_cross", nn::MultiHeadAttention(24, 4), {{-1, 7, 24}, {-1, 5, 24}, {-1, 5, 24}});
  nn::TransformerOptions options;
  options.feed_forward = 40;
  add("encoder", nn::TransformerEncoderLayer(24, 3, options), {{-1, 7, 24}});
  add("decoder", nn::TransformerDecoderLayer(24, 3, options), {{-1, 7, 24}, {-1, 5, 24}});
  options.activation = "gelu", options.norm_first = true, options.causal = true;
  add("encoder_norm_first", nn::Sequential({nn::TransformerEncoderLayer(24, 3, options), nn::TransformerEncoderLayer(24, 3, options)}),
      {{-1, 7, 24}});
  add("decoder_norm_first", nn::TransformerDecoderLayer(24, 3, options), {{-1, 7, 24}, {-1, 5, 24}});
  add("lstm", nn::LSTM(6, 9), {{-1, 5, 6}});
  add("lstm_deep", nn::LSTM(6, 9, 3), {{-1, 4, 6}});
  add("gru", nn::GRU(6, 9), {{-1, 5, 6}});
  add("gru_deep", nn::GRU(6, 9, 2), {{-1, 1, 6}});
  return good ? 0 : 1;
}
