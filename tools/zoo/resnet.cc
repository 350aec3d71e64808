// Weights: convolutions as torchvision starts them (He, fan out); batch norms as if trained, scales of the last one of a block
// small, so that 16 blocks neither die out nor explode.
#include <cmath>

#include "tools/zoo/zoo.h"

namespace svengine::tool {
namespace {

class ResNet {
 public:
  ResNet(Builder& builder, Weights& weights, bool bottleneck) : b_(builder), w_(weights), bottleneck_(bottleneck) {}

  void build(const int (&blocks)[4]) {
    Value* x = b_.input("input", DType::f32, {Dim("N"), Dim(3), Dim(224), Dim(224)});
    x = relu(norm(conv(x, "conv1", 3, 64, 7, 2), "bn1", 64, 0.5f, 1.5f), "relu");
    x = b_.add("MaxPool", {x},
               make_attributes({{"kernel_shape", std::vector<int64_t>{3, 3}},
                                {"strides", std::vector<int64_t>{2, 2}},
                                {"pads", std::vector<int64_t>{1, 1, 1, 1}}}),
               "maxpool");
    int64_t channels = 64;
    for (int stage = 0; stage < 4; ++stage)
      for (int i = 0; i < blocks[stage]; ++i) {
        const int64_t width = int64_t{64} << stage;
        const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
        x = block(x, fmt::format("layer{}.{}", stage + 1, i), channels, width, stride);
        channels = bottleneck_ ? 4 * width : width;
      }
    classify(x, channels, 1000);
  }

  /// For grey images of 28 x 28: the network of examples/00_fashion_mnist.
  void build_small() {
    Value* x = b_.input("image", DType::f32, {Dim("N"), Dim(1), Dim(28), Dim(28)});
    x = relu(norm(conv(x, "stem", 1, 16, 3, 1), "stem.bn", 16, 0.5f, 1.5f), "stem.relu");
    x = block(x, "block1", 16, 16, 1);
    x = block(x, "block2", 16, 32, 2);
    x = block(x, "block3", 32, 64, 2);
    x = block(x, "block4", 64, 64, 1);
    classify(x, 64, 10);
  }

 private:
  void classify(Value* x, int64_t channels, int64_t classes) {
    x = b_.add("GlobalAveragePool", {x}, {}, "avgpool");
    x = b_.add("Flatten", {x}, make_attributes({{"axis", int64_t{1}}}), "flatten");
    const float bound = 1 / std::sqrt(static_cast<float>(channels));
    Value* weight = w_.uniform("fc.weight", {classes, channels}, -bound, bound);
    Value* bias = w_.uniform("fc.bias", {classes}, -bound, bound);
    b_.output(b_.add("Gemm", {x, weight, bias}, make_attributes({{"transB", int64_t{1}}}), "fc"), "logits");
  }

  Value* conv(Value* x, const std::string& name, int64_t in, int64_t out, int64_t size, int64_t stride) {
    const float deviation = std::sqrt(2.0f / static_cast<float>(out * size * size));
    const int64_t pad = size / 2;
    Value* weight = w_.normal(name + ".weight", {out, in, size, size}, 0, deviation);
    return b_.add("Conv", {x, weight},
                  make_attributes({{"dilations", std::vector<int64_t>{1, 1}},
                                   {"group", int64_t{1}},
                                   {"kernel_shape", std::vector<int64_t>{size, size}},
                                   {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                                   {"strides", std::vector<int64_t>{stride, stride}}}),
                  name);
  }

  Value* norm(Value* x, const std::string& name, int64_t channels, float low, float high) {
    Value* scale = w_.uniform(name + ".weight", {channels}, low, high);
    Value* bias = w_.normal(name + ".bias", {channels}, 0, 0.1f);
    Value* mean = w_.normal(name + ".running_mean", {channels}, 0, 0.1f);
    Value* variance = w_.uniform(name + ".running_var", {channels}, 0.5f, 1.5f);
    return b_.add("BatchNormalization", {x, scale, bias, mean, variance}, make_attributes({{"epsilon", 1e-5f}}), name);
  }

  Value* relu(Value* x, const std::string& name) { return b_.add("Relu", {x}, {}, name); }

  Value* block(Value* x, const std::string& name, int64_t in, int64_t width, int64_t stride) {
    const int64_t out = bottleneck_ ? 4 * width : width;
    Value* y = x;
    if (bottleneck_) {
      y = relu(norm(conv(y, name + ".conv1", in, width, 1, 1), name + ".bn1", width, 0.5f, 1.5f), name + ".relu1");
      y = relu(norm(conv(y, name + ".conv2", width, width, 3, stride), name + ".bn2", width, 0.5f, 1.5f), name + ".relu2");
      y = norm(conv(y, name + ".conv3", width, out, 1, 1), name + ".bn3", out, 0.2f, 0.6f);
    } else {
      y = relu(norm(conv(y, name + ".conv1", in, width, 3, stride), name + ".bn1", width, 0.5f, 1.5f), name + ".relu1");
      y = norm(conv(y, name + ".conv2", width, out, 3, 1), name + ".bn2", out, 0.2f, 0.6f);
    }
    if (stride != 1 || in != out)
      x = norm(conv(x, name + ".downsample.0", in, out, 1, stride), name + ".downsample.1", out, 0.5f, 1.5f);
    return relu(b_.add("Add", {y, x}, {}, name + ".add"), name + ".relu");
  }

  Builder& b_;
  Weights& w_;
  bool bottleneck_;
};

}  // namespace

void build_resnet18(Builder& builder, Weights& weights) { ResNet(builder, weights, false).build({2, 2, 2, 2}); }
void build_resnet_28(Builder& builder, Weights& weights) { ResNet(builder, weights, false).build_small(); }
void build_resnet50(Builder& builder, Weights& weights) { ResNet(builder, weights, true).build({3, 4, 6, 3}); }

}  // namespace svengine::tool
