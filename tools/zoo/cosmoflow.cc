// CosmoFlow of MLPerf HPC: cosmological parameters from a volume of matter densities. Five 3 x 3 x 3 convolutions, each with LeakyReLU and a
// halving, then three dense layers (mlcommons/hpc, cosmoflow/models/cosmoflow.py). Weights as Keras starts them: Glorot, uniform.
#include <cmath>

#include "tools/zoo/zoo.h"

namespace svengine::tool {
namespace {

constexpr float kSlope = 0.3f;  // of Keras' LeakyReLU

/// Glorot's uniform weights for sums of `in` terms that go into `out` places each.
Value* glorot(Weights& w, const std::string& name, Dims dims, int64_t in, int64_t out) {
  const float bound = std::sqrt(6.0f / static_cast<float>(in + out));
  return w.uniform(name, std::move(dims), -bound, bound);
}

Value* leaky_relu(Builder& b, Value* x, const std::string& name) { return b.add("LeakyRelu", {x}, make_attributes({{"alpha", kSlope}}), name); }

Value* conv(Builder& b, Weights& w, Value* x, const std::string& name, int64_t in, int64_t out) {
  Value* weight = glorot(w, name + ".weight", {out, in, 3, 3, 3}, in * 27, out * 27);
  Value* bias = w.uniform(name + ".bias", {out}, -0.05f, 0.05f);
  x = b.add("Conv", {x, weight, bias},
            make_attributes({{"kernel_shape", std::vector<int64_t>{3, 3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1, 1, 1}}}), name);
  x = leaky_relu(b, x, name + ".relu");
  return b.add("MaxPool", {x},
               make_attributes({{"kernel_shape", std::vector<int64_t>{2, 2, 2}}, {"strides", std::vector<int64_t>{2, 2, 2}}}), name + ".pool");
}

Value* dense(Builder& b, Weights& w, Value* x, const std::string& name, int64_t in, int64_t out) {
  Value* weight = glorot(w, name + ".weight", {in, out}, in, out);
  Value* bias = w.uniform(name + ".bias", {out}, -0.05f, 0.05f);
  return b.add("Gemm", {x, weight, bias}, {}, name);
}

}  // namespace

void build_cosmoflow(Builder& b, Weights& w) {
  Value* x = b.input("volume", DType::f32, {Dim("N"), Dim(4), Dim(128), Dim(128), Dim(128)});
  int64_t channels = 4;
  for (int i = 0; i < 5; ++i) {
    const int64_t out = int64_t{32} << i;
    x = conv(b, w, x, fmt::format("conv{}", i + 1), channels, out);
    channels = out;
  }
  x = b.add("Flatten", {x}, make_attributes({{"axis", int64_t{1}}}), "flatten");
  x = leaky_relu(b, dense(b, w, x, "fc1", channels * 4 * 4 * 4, 128), "fc1.relu");
  x = leaky_relu(b, dense(b, w, x, "fc2", 128, 64), "fc2.relu");
  x = b.add("Tanh", {dense(b, w, x, "fc3", 64, 4)}, {}, "tanh");
  b.output(b.add("Mul", {x, w.uniform("scale", {4}, 1.2f, 1.2f)}, {}, "scaled"), "parameters");
}

}  // namespace svengine::tool
