// Small networks and random samples for the tests here.
#pragma once
#include <catch2/catch.hpp>

#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "validate/quantize/quantize.h"

namespace svengine::validate::tests {

inline Tensor random_floats(const Dims& dims, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  std::vector<float> values(static_cast<size_t>(element_count(dims)));
  for (float& x : values) x = uniform(random);
  return Tensor::of<float>(dims, std::span<const float>(values));
}

class RandomSamples final : public InputSamples {
 public:
  explicit RandomSamples(Dims dims, size_t count = 4, float scale = 1) : dims_(std::move(dims)), count_(count), scale_(scale) {}
  size_t size() const override { return count_; }
  Result<std::vector<Tensor>> read(size_t index) override {
    ++reads;
    return std::vector<Tensor>{random_floats(dims_, static_cast<unsigned>(index) + 1, scale_)};
  }
  size_t reads = 0;

 private:
  Dims dims_;
  size_t count_;
  float scale_;
};

inline std::string operators_of(const Graph& graph) {
  std::string out;
  for (const auto& node : graph.nodes()) out += (out.empty() ? "" : " ") + std::string(node->op().name);
  return out;
}

inline const Value* value_named(const Graph& graph, const std::string& name) {
  const Value* out = nullptr;
  graph.for_each_value([&](Value& v) { if (v.name() == name) out = &v; });
  return out;
}

inline SessionOptions one_thread() {
  SessionOptions out;
  out.topology = detect_topology(1);
  return out;
}

inline std::unique_ptr<Session> session_of(const Graph& graph) {
  Result<std::unique_ptr<Session>> session = Session::create(graph.clone(), one_thread());
  REQUIRE(session.ok());
  return std::move(*session);
}

/// x[1, 3, 8, 8] -> first (Conv, batch norm, Relu) -> MaxPool -> second (Conv) + its input -> Relu -> Flatten -> last (Gemm) -> y[1, 5].
inline Graph small_network() {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape{1, 3, 8, 8});
  const auto weights = [&](const char* name, Dims dims, unsigned seed) { return b.constant(random_floats(dims, seed), name); };
  const auto conv = [&](Value* from, Value* w, Value* bias, const char* name) {
    return b.node("", "Conv", {from, w, bias}, 1, make_attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), name, {name})->output();
  };
  Value* y = conv(x, weights("w1", {4, 3, 3, 3}, 11), weights("b1", {4}, 12), "first");
  std::vector<Value*> norm{y};
  for (unsigned seed : {13u, 14u, 15u}) norm.push_back(weights("norm", {4}, seed));
  norm.push_back(b.constant(Tensor::of<float>({4}, {1, 2, 0.5f, 1}), "variance"));
  y = b.node("", "BatchNormalization", norm, 1, {}, "norm", {"norm.y"})->output();
  y = b.node("", "Relu", {y}, 1, {}, "relu", {"relu.y"})->output();
  y = b.node("", "MaxPool", {y}, 1, make_attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}}), "pool",
             {"pool.y"})->output();
  Value* branch = conv(y, weights("w2", {4, 4, 3, 3}, 16), weights("b2", {4}, 17), "second");
  y = b.node("", "Add", {branch, y}, 1, {}, "sum", {"sum.y"})->output();
  y = b.node("", "Relu", {y}, 1, {}, "relu2", {"relu2.y"})->output();
  y = b.node("", "Flatten", {y}, 1, {}, "flatten", {"flat"})->output();
  y = b.node("", "Gemm", {y, weights("w3", {64, 5}, 18), weights("b3", {5}, 19)}, 1, {}, "last", {"y"})->output();
  REQUIRE(b.status().ok());
  graph.add_output(y);
  return graph;
}

inline Graph prepared_network() {
  Graph graph = small_network();
  REQUIRE(prepare_for_quantization(graph, one_thread()).ok());
  return graph;
}

}  // namespace svengine::validate::tests
