// Networks that the tests of the interfaces run.
#pragma once
#include <svengine/nn.hpp>

#include <catch2/catch.hpp>
#include <string>

namespace svengine::tests {

/// tanh(x W + b) V + c of x [n, 4], y [n, 3], with weights drawn by a seed.
inline std::string save_small_network(const std::string& folder, uint64_t seed = 1) {
  nn::Net net(seed);
  const nn::Var x = net.input("x", ElementType::float32, {-1, 4});
  net.output(net.apply(nn::Sequential({nn::Linear(4, 16), nn::Tanh(), nn::Linear(16, 3)}), x), "y");
  const std::string path = folder + "/small" + std::to_string(seed) + ".onnx";
  if (!net.save(path)) FAIL(net.error());
  return path;
}

/// y[N] = x[N] + numbers that the node draws without a seed of its own.
inline std::string save_noise_network(const std::string& folder) {
  nn::Net net;
  const nn::Var x = net.input("x", ElementType::float32, {-1});
  net.output(nn::op("Add", {x, nn::op("RandomNormalLike", {x})}), "y");
  const std::string path = folder + "/noise.onnx";
  if (!net.save(path)) FAIL(net.error());
  return path;
}

}  // namespace svengine::tests
