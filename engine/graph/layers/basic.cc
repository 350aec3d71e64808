// Layers without a state or a structure of their own: products, norms, activations, pooling.
#include <cmath>

#include "engine/graph/layers/layer.h"

namespace svengine::layers {
namespace {

using Values = std::vector<Value*>;

/// torch.nn.init.kaiming_uniform_(a=sqrt(5)), and of the bias that goes with it.
Initializer even_by_fan(double fan) {
  const double bound = 1 / std::sqrt(fan);
  return Initializer::uniform(-bound, bound);
}

std::vector<int64_t> twice(int64_t value) { return {value, value}; }
std::vector<int64_t> four_times(int64_t value) { return {value, value, value, value}; }

Layer one_op(const char* kind, const char* op, Attributes attributes = {}) {
  return {.kind = kind, .build = [op, attributes](Scope scope, const Values& x) { return Values{scope.op(op, {x[0]}, attributes)}; }};
}

Value* gelu(Scope& scope, Value* x) {
  Value* erf = scope.op("Erf", {scope.op("Div", {x, scope.number(1.4142135623730951f)})});
  return scope.op("Mul", {scope.op("Mul", {x, scope.op("Add", {erf, scope.number(1)})}), scope.number(0.5f)});
}

Value* activated(Scope& scope, const std::string& name, Value* x) {
  const auto last = [] { return make_attributes({{"axis", int64_t{-1}}}); };
  if (name == "relu") return scope.op("Relu", {x});
  if (name == "gelu") return gelu(scope, x);
  if (name == "silu") return scope.op("Mul", {x, scope.op("Sigmoid", {x})});
  if (name == "tanh") return scope.op("Tanh", {x});
  if (name == "sigmoid") return scope.op("Sigmoid", {x});
  if (name == "softplus") return scope.op("Softplus", {x});
  if (name == "leaky_relu") return scope.op("LeakyRelu", {x}, make_attributes({{"alpha", 0.01f}}));
  if (name == "elu") return scope.op("Elu", {x}, make_attributes({{"alpha", 1.0f}}));
  if (name == "hardswish") return scope.op("HardSwish", {x});
  if (name == "softmax") return scope.op("Softmax", {x}, last());
  if (name == "log_softmax") return scope.op("LogSoftmax", {x}, last());
  scope.fail(error("there is no activation '{}'", name));
  return nullptr;
}

Attributes pooling(int64_t kernel, int64_t stride, int64_t padding) {
  return make_attributes({{"kernel_shape", twice(kernel)}, {"strides", twice(stride ? stride : kernel)}, {"pads", four_times(padding)}});
}

Attributes window_attributes(int64_t kernel, const WindowOptions& o) {
  return make_attributes({{"kernel_shape", twice(kernel)},
                          {"strides", twice(o.stride)},
                          {"pads", four_times(o.padding)},
                          {"dilations", twice(o.dilation)},
                          {"group", o.groups}});
}

/// A convolution of either direction: weight [rows, columns, kernel, kernel].
Layer windowed(const char* kind, const char* op, Dims weight, int64_t outs, const WindowOptions& o, Attributes attributes) {
  return {.kind = kind, .build = [=](Scope scope, const Values& x) {
            const auto fan = static_cast<double>(weight[1] * weight[2] * weight[3]);
            Values inputs{x[0], scope.parameter("weight", weight, even_by_fan(fan))};
            if (o.bias) inputs.push_back(scope.parameter("bias", {outs}, even_by_fan(fan)));
            return Values{scope.op(op, std::move(inputs), attributes)};
          }};
}

}  // namespace

Layer linear(int64_t ins, int64_t outs, bool bias) {
  return {.kind = "Linear", .build = [=](Scope scope, const Values& x) {
            const Initializer how = even_by_fan(static_cast<double>(ins));
            Value* weight = scope.parameter("weight", {outs, ins}, how);
            Value* summand = bias ? scope.parameter("bias", {outs}, how) : nullptr;
            if (x[0]->type.shape.rank() == 2) {
              Values inputs{x[0], weight};
              if (bias) inputs.push_back(summand);
              return Values{scope.op("Gemm", std::move(inputs), make_attributes({{"transB", int64_t{1}}}))};
            }
            Value* product = scope.op("MatMul", {x[0], scope.op("Transpose", {weight}, make_attributes({{"perm", std::vector<int64_t>{1, 0}}}))});
            return Values{bias ? scope.op("Add", {product, summand}) : product};
          }};
}

Layer conv2d(int64_t ins, int64_t outs, int64_t kernel, const WindowOptions& options) {
  const Dims weight{outs, ins / std::max<int64_t>(options.groups, 1), kernel, kernel};
  return windowed("Conv2d", "Conv", weight, outs, options, window_attributes(kernel, options));
}

Layer conv_transpose2d(int64_t ins, int64_t outs, int64_t kernel, const WindowOptions& options, int64_t output_padding) {
  const Dims weight{ins, outs / std::max<int64_t>(options.groups, 1), kernel, kernel};
  Attributes attributes = window_attributes(kernel, options);
  attributes.set("output_padding", twice(output_padding));
  return windowed("ConvTranspose2d", "ConvTranspose", weight, outs, options, std::move(attributes));
}

Layer batch_norm(int64_t channels, double epsilon, double momentum) {
  return {.kind = "BatchNorm", .build = [=](Scope scope, const Values& x) {
            const Initializer one = Initializer::constant(1), zero = Initializer::constant(0);
            Values inputs{x[0], scope.parameter("weight", {channels}, one), scope.parameter("bias", {channels}, zero),
                          scope.parameter("running_mean", {channels}, zero), scope.parameter("running_var", {channels}, one)};
            // ONNX's momentum is the share of what was before.
            return Values{scope.op("BatchNormalization", std::move(inputs),
                                   make_attributes({{"epsilon", static_cast<float>(epsilon)},
                                                    {"momentum", static_cast<float>(1 - momentum)}}))};
          }};
}

Layer layer_norm(Dims dims, double epsilon) {
  return {.kind = "LayerNorm", .build = [=](Scope scope, const Values& x) {
            Value* weight = scope.parameter("weight", dims, Initializer::constant(1));
            Value* bias = scope.parameter("bias", dims, Initializer::constant(0));
            return Values{scope.op("LayerNormalization", {x[0], weight, bias},
                                   make_attributes({{"axis", -static_cast<int64_t>(dims.size())},
                                                    {"epsilon", static_cast<float>(epsilon)}}))};
          }};
}

Layer embedding(int64_t count, int64_t features) {
  return {.kind = "Embedding", .build = [=](Scope scope, const Values& x) {
            return Values{scope.op("Gather", {scope.parameter("weight", {count, features}, Initializer::normal(0, 1)), x[0]})};
          }};
}

Layer dropout(double probability) {
  return {.kind = "Dropout", .build = [=](Scope scope, const Values& x) {
            if (probability == 0) return x;
            if (!(probability > 0 && probability < 1)) {
              scope.fail(error("dropout of {}: it must be in [0, 1)", probability));
              return x;
            }
            return Values{scope.op("Dropout", {x[0], scope.number(static_cast<float>(probability))})};
          }};
}

Layer activation(const std::string& name) {
  return {.kind = "activation", .build = [name](Scope scope, const Values& x) { return Values{activated(scope, name, x[0])}; }};
}

Layer max_pool2d(int64_t kernel, int64_t stride, int64_t padding) { return one_op("MaxPool2d", "MaxPool", pooling(kernel, stride, padding)); }

Layer avg_pool2d(int64_t kernel, int64_t stride, int64_t padding) {
  Attributes attributes = pooling(kernel, stride, padding);
  attributes.set("count_include_pad", int64_t{1});
  return one_op("AvgPool2d", "AveragePool", std::move(attributes));
}

Layer global_avg_pool() { return one_op("GlobalAvgPool", "GlobalAveragePool"); }

/// Flatten of ONNX makes two dimensions always; a Reshape keeps those before `start`.
Layer flatten(int64_t start) {
  if (start == 1) return one_op("Flatten", "Flatten", make_attributes({{"axis", int64_t{1}}}));
  return {.kind = "Flatten", .build = [start](Scope scope, const Values& x) {
            std::vector<int64_t> dims(static_cast<size_t>(std::max<int64_t>(start, 0)), 0);  // 0: as it is
            dims.push_back(-1);
            const auto count = static_cast<int64_t>(dims.size());
            return Values{scope.op("Reshape", {x[0], scope.builder().constant(Tensor::of<int64_t>({count}, std::span<const int64_t>(dims)))})};
          }};
}

}  // namespace svengine::layers
