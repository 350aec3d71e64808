// The layers of nn.hpp: those of engine/graph/layers.
#include "api/nn_state.h"

namespace svengine::nn {
namespace {

layers::WindowOptions window(const WindowOptions& o) {
  return {.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups, .bias = o.bias};
}

layers::TransformerOptions transformer(const TransformerOptions& o) {
  return {.feed_forward = o.feed_forward,
          .dropout = o.dropout,
          .activation = o.activation,
          .norm_first = o.norm_first,
          .causal = o.causal};
}

/// The layer that make() gives; where memory is out for it, one that says so when it is applied.
template <class Make>
Layer made(const Make& make) noexcept {
  try {
    return LayerState::wrap(make());
  } catch (...) {
    return Layer(nullptr);
  }
}

}  // namespace

const layers::Layer& LayerState::missing() {
  static const layers::Layer layer{
      .kind = "", .min_inputs = 0, .max_inputs = SIZE_MAX, .build = [](layers::Scope scope, const std::vector<Value*>&) {
        scope.fail(Error("a layer is applied that could not be made: out of memory"));
        return std::vector<Value*>{nullptr};
      }};
  return layer;
}

Layer Sequential(const std::vector<Layer>& list) noexcept {
  return made([&] {
    std::vector<layers::Layer> inner;
    for (const Layer& layer : list) inner.push_back(LayerState::of(layer));
    return layers::sequential(std::move(inner));
  });
}

Layer Residual(const Layer& layer) noexcept {
  return made([&] { return layers::residual(LayerState::of(layer)); });
}
Layer Linear(int64_t ins, int64_t outs, bool bias) noexcept {
  return made([&] { return layers::linear(ins, outs, bias); });
}

Layer Conv2d(int64_t ins, int64_t outs, int64_t kernel, const WindowOptions& options) noexcept {
  return made([&] { return layers::conv2d(ins, outs, kernel, window(options)); });
}

Layer ConvTranspose2d(int64_t ins, int64_t outs, int64_t kernel, const WindowOptions& options, int64_t output_padding) noexcept {
  return made([&] { return layers::conv_transpose2d(ins, outs, kernel, window(options), output_padding); });
}

Layer BatchNorm(int64_t channels, double epsilon, double momentum) noexcept {
  return made([&] { return layers::batch_norm(channels, epsilon, momentum); });
}

Layer LayerNorm(const std::vector<int64_t>& dims, double epsilon) noexcept {
  return made([&] { return layers::layer_norm(dims, epsilon); });
}
Layer Embedding(int64_t count, int64_t features) noexcept {
  return made([&] { return layers::embedding(count, features); });
}
Layer Dropout(double probability) noexcept {
  return made([&] { return layers::dropout(probability); });
}
Layer Activation(const std::string& name) noexcept {
  return made([&] { return layers::activation(name); });
}

Layer MaxPool2d(int64_t kernel, int64_t stride, int64_t padding) noexcept {
  return made([&] { return layers::max_pool2d(kernel, stride, padding); });
}

Layer AvgPool2d(int64_t kernel, int64_t stride, int64_t padding) noexcept {
  return made([&] { return layers::avg_pool2d(kernel, stride, padding); });
}

Layer GlobalAvgPool() noexcept {
  return made([&] { return layers::global_avg_pool(); });
}
Layer Flatten(int64_t start) noexcept {
  return made([&] { return layers::flatten(start); });
}

Layer MultiHeadAttention(int64_t features, int64_t heads, const AttentionOptions& o) noexcept {
  return made(
      [&] { return layers::multi_head_attention(features, heads, {.dropout = o.dropout, .bias = o.bias, .causal = o.causal}); });
}

Layer TransformerEncoderLayer(int64_t features, int64_t heads, const TransformerOptions& options) noexcept {
  return made([&] { return layers::transformer_encoder_layer(features, heads, transformer(options)); });
}

Layer TransformerDecoderLayer(int64_t features, int64_t heads, const TransformerOptions& options) noexcept {
  return made([&] { return layers::transformer_decoder_layer(features, heads, transformer(options)); });
}

Layer LSTM(int64_t ins, int64_t hidden, int64_t count) noexcept {
  return made([&] { return layers::lstm(ins, hidden, count); });
}
Layer GRU(int64_t ins, int64_t hidden, int64_t count) noexcept {
  return made([&] { return layers::gru(ins, hidden, count); });
}

}  // namespace svengine::nn
