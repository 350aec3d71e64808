// A vocabulary of layers to build networks of: PyTorch's modules by meaning, default options, first values and names of parameters.
//
//     Builder b(graph, all_ops());
//     const Layer net = sequential({linear(784, 128), activation("relu"), linear(128, 10)});
//     const std::vector<Value*> y = apply(net, Scope(b, RandomStream(seed)), {x});        // parameters "0.weight", "0.bias", "2.weight"..
//
// A layer adds ONNX nodes in inference mode (runtime/train makes the training mode of it) and one constant for every parameter, named
// as in PyTorch's state_dict, so that weights go back and forth by name. First values are a function of the stream and the name.
// Sequences are [batch, length, features] (PyTorch's batch_first).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/base/initializer.h"
#include "engine/graph/builder.h"

namespace svengine::layers {

/// Where a layer is built: the builder, and what comes before the names of its parameters.
class Scope {
 public:
  Scope(Builder& builder, RandomStream stream, std::string prefix = {})
      : builder_(&builder), stream_(stream), prefix_(std::move(prefix)) {}

  Builder& builder() { return *builder_; }
  const std::string& prefix() const { return prefix_; }
  /// Of a layer inside this one: "encoder." -> "encoder.norm1."
  Scope inside(const std::string& name) const { return {*builder_, stream_, prefix_ + name + "."}; }

  /// A float32 constant that training changes. Null after a failure, as all that adds nodes.
  Value* parameter(const std::string& name, Dims dims, const Initializer& how);
  Value* number(float value) { return builder_->constant(Tensor::scalar(value)); }
  Value* op(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {});
  std::vector<Value*> split(Value* value, int64_t axis, std::vector<int64_t> sizes);
  void fail(Error error);

 private:
  Builder* builder_;
  RandomStream stream_;
  std::string prefix_;
};

struct Layer {
  std::string kind;
  size_t min_inputs = 1, max_inputs = 1, outputs = 1;
  std::function<std::vector<Value*>(Scope, const std::vector<Value*>&)> build = {};
};

/// Builds the layer. Refuses a wrong number of inputs. After a failure, which the builder keeps, all results are null.
std::vector<Value*> apply(const Layer& layer, Scope scope, const std::vector<Value*>& inputs);
/// That of a layer with one result.
Value* apply_one(const Layer& layer, Scope scope, const std::vector<Value*>& inputs);

/// One after the other, each getting all results of the one before; parameters below "0.", "1.", ...
Layer sequential(std::vector<Layer> layers);
/// x + layer(x), the layer's parameters under their own names.
Layer residual(Layer layer);

/// y = x W^T + b, over the last dimension. weight [outs, ins], bias [outs]: even within 1 / sqrt(ins).
Layer linear(int64_t ins, int64_t outs, bool bias = true);

struct WindowOptions {
  int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
  bool bias = true;
};
/// Of [batch, ins, height, width]. weight [outs, ins / groups, kernel, kernel], bias [outs]: even within 1 / sqrt(fan in).
Layer conv2d(int64_t ins, int64_t outs, int64_t kernel, const WindowOptions& options = {});
/// Likewise; weight [ins, outs / groups, kernel, kernel], even within 1 / sqrt(outs / groups * kernel^2).
Layer conv_transpose2d(int64_t ins, int64_t outs, int64_t kernel, const WindowOptions& options = {}, int64_t output_padding = 0);

/// Over all dimensions but the second. weight 1, bias 0, running_mean 0, running_var 1. `momentum` is the new batch's share.
Layer batch_norm(int64_t channels, double epsilon = 1e-5, double momentum = 0.1);
/// Over the last dimensions, of these sizes. weight 1, bias 0.
Layer layer_norm(Dims dims, double epsilon = 1e-5);
/// Row i of weight [count, features], normal, for every index i (int64).
Layer embedding(int64_t count, int64_t features);
/// Drops with that probability in training. 0: nothing is added.
Layer dropout(double probability = 0.5);
/// "relu", "gelu", "silu", "tanh", "sigmoid", "softplus", "leaky_relu" (slope 0.01), "elu", "hardswish", "softmax" and
/// "log_softmax" (over the last dimension). Other names are refused when the layer is built.
Layer activation(const std::string& name);

/// stride 0: that of the kernel.
Layer max_pool2d(int64_t kernel, int64_t stride = 0, int64_t padding = 0);
/// Padding counts, as PyTorch has it.
Layer avg_pool2d(int64_t kernel, int64_t stride = 0, int64_t padding = 0);
/// [batch, channels, ..] -> [batch, channels, 1, ..]: AdaptiveAvgPool2d(1).
Layer global_avg_pool();
/// Dimensions from `start` on become one.
Layer flatten(int64_t start = 1);

struct AttentionOptions {
  double dropout = 0;
  bool bias = true;
  bool causal = false;  // no position sees later ones; needs a fixed length
};
/// Inputs x, or (x, mask), or (query, key, value), or all four; the mask is added to the scores [batch, heads, length, key length],
/// to which it broadcasts. in_proj_weight [3 features, features] (Xavier), in_proj_bias 0, out_proj.weight, out_proj.bias 0.
Layer multi_head_attention(int64_t features, int64_t heads, const AttentionOptions& options = {});

struct TransformerOptions {
  int64_t feed_forward = 2048;
  double dropout = 0.1;
  std::string activation = "relu";
  bool norm_first = false;
  bool causal = false;  // self-attention
  double epsilon = 1e-5;
};
/// Input x, or (x, mask).
Layer transformer_encoder_layer(int64_t features, int64_t heads, const TransformerOptions& options = {});
/// Inputs (x, memory), or (x, memory, mask of x).
Layer transformer_decoder_layer(int64_t features, int64_t heads, const TransformerOptions& options = {});

/// Of [batch, length, ins], from states of zeros, by the operators LSTM and GRU. Results: all
/// states h [batch, length, hidden], the last layer's last h [batch, hidden], and of LSTM its last c. weight_ih_l0 [4 hidden, ins]
/// (3 for GRU), weight_hh_l0, bias_ih_l0, bias_hh_l0, then l1: even within 1 / sqrt(hidden).
Layer lstm(int64_t ins, int64_t hidden, int64_t layers = 1);
Layer gru(int64_t ins, int64_t hidden, int64_t layers = 1);

}  // namespace svengine::layers
