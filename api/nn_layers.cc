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

}  // namespace

Layer Sequential(const std::vector<Layer>& list) {
  std::vector<layers::Layer> inner;
  for (const Layer& layer : list) inner.push_back(LayerState::of(layer));
  return LayerState::wrap(layers::sequential(std::move(inner)));
}

Layer Residual(const Layer& layer) { return LayerState::wrap(layers::residual(LayerState::of(layer))); }
Layer Linear(int64_t ins, int64_t outs, bool bias) { return LayerState::wrap(layers::linear(ins, outs, bias)); }

Layer Conv2d(int64_t ins, int64_t outs, int64_t kernel, const WindowOptions& options) {
  return LayerState::wrap(layers::conv2d(ins, outs, kernel, window(options)));
}

Layer ConvTranspose2d(int64_t ins, int64_t outs, int64_t kernel, const WindowOptions& options, int64_t output_padding) {
  return LayerState::wrap(layers::conv_transpose2d(ins, outs, kernel, window(options), output_padding));
}

Layer BatchNorm(int64_t channels, double epsilon, double momentum) {
  return LayerState::wrap(layers::batch_norm(channels, epsilon, momentum));
}

Layer LayerNorm(const std::vector<int64_t>& dims, double epsilon) { return LayerState::wrap(layers::layer_norm(dims, epsilon)); }
Layer Embedding(int64_t count, int64_t features) { return LayerState::wrap(layers::embedding(count, features)); }
Layer Dropout(double probability) { return LayerState::wrap(layers::dropout(probability)); }
Layer Activation(const std::string& name) { return LayerState::wrap(layers::activation(name)); }

Layer MaxPool2d(int64_t kernel, int64_t stride, int64_t padding) {
  return LayerState::wrap(layers::max_pool2d(kernel, stride, padding));
}

Layer AvgPool2d(int64_t kernel, int64_t stride, int64_t padding) {
  return LayerState::wrap(layers::avg_pool2d(kernel, stride, padding));
}

Layer GlobalAvgPool() { return LayerState::wrap(layers::global_avg_pool()); }
Layer Flatten(int64_t start) { return LayerState::wrap(layers::flatten(start)); }

Layer MultiHeadAttention(int64_t features, int64_t heads, const AttentionOptions& o) {
  return LayerState::wrap(layers::multi_head_attention(features, heads, {.dropout = o.dropout, .bias = o.bias, .causal = o.causal}));
}

Layer TransformerEncoderLayer(int64_t features, int64_t heads, const TransformerOptions& options) {
  return LayerState::wrap(layers::transformer_encoder_layer(features, heads, transformer(options)));
}

Layer TransformerDecoderLayer(int64_t features, int64_t heads, const TransformerOptions& options) {
  return LayerState::wrap(layers::transformer_decoder_layer(features, heads, transformer(options)));
}

Layer LSTM(int64_t ins, int64_t hidden, int64_t count) { return LayerState::wrap(layers::lstm(ins, hidden, count)); }
Layer GRU(int64_t ins, int64_t hidden, int64_t count) { return LayerState::wrap(layers::gru(ins, hidden, count)); }

}  // namespace svengine::nn
