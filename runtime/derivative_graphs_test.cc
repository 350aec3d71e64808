// Derivatives of networks of narrow types beside those of the same network in float32.
#include "runtime/derivative_graphs.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"

namespace derivative_graphs_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

/// Two layers, an image's convolution, functions that have kernels of their own for slopes, and a composite operator.
Graph network(DType type) {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", type, {2, 3, 4, 4});
  const auto weight = [&](Dims dims, uint64_t seed) { return b.constant(random_tensor_of(type, std::move(dims), seed, -0.5, 0.5)); };
  Value* image = b.add("Tanh", {b.add("Conv", {x, weight({4, 3, 3, 3}, 1), weight({4}, 2)})});
  Value* rows = b.add("Flatten", {b.add("AveragePool", {image}, make_attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}}))});
  Value* hidden = b.add("Gelu", {b.add("MatMul", {rows, weight({4, 5}, 3)})});
  b.output(b.add("Softmax", {b.add("Gemm", {hidden, weight({5, 3}, 4)})}), "y");
  REQUIRE(b.status().ok());
  return graph;
}

std::vector<double> last_output(Result<Graph> graph, DType type) {
  if (!graph.ok()) FAIL(graph.error().message());
  std::vector<Tensor> inputs;
  for (const Value* v : graph->inputs())
    inputs.push_back(random_tensor_of(type, *v->type.shape.concrete(), 7 + inputs.size(), -1, 1));
  auto session = Session::create(std::move(graph).value());
  if (!session.ok()) FAIL(session.error().message());
  const Result<std::vector<Tensor>> outputs = (*session)->run(inputs);
  if (!outputs.ok()) FAIL(outputs.error().message());
  CHECK(outputs->back().type() == type);
  return to_doubles(outputs->back());
}

}  // namespace

TEST_CASE("networks of narrow types have derivatives") {
  const std::vector<double> single = last_output(vjp_graph(network(DType::f32)), DType::f32);
  for (const DType type : {DType::f16, DType::bf16}) {
    const std::vector<double> narrow = last_output(vjp_graph(network(type)), type);
    REQUIRE(narrow.size() == single.size());
    for (size_t i = 0; i < single.size(); ++i) CHECK(narrow[i] == Approx(single[i]).epsilon(0.05).margin(type == DType::f16 ? 2e-3 : 2e-2));
  }
}

TEST_CASE("products have derivatives in both directions, which agree") {
  const auto network = [] {
    Graph graph;
    Builder b(graph, all_ops());
    const auto weight = [&](Dims dims, uint64_t seed) { return b.constant(random_tensor(std::move(dims), seed)); };
    Value* x = b.input("x", DType::f32, {2, 3, 4});
    Value* rows = b.add("Flatten", {b.add("Tanh", {b.add("MatMul", {x, weight({4, 5}, 1)})})}, make_attributes({{"axis", int64_t{2}}}));
    Value* layer = b.add("Gemm", {rows, weight({7, 5}, 2), weight({7}, 3)}, make_attributes({{"transB", int64_t{1}}}));
    b.output(b.add("MatMul", {weight({2, 6}, 4), b.add("Sigmoid", {layer})}), "y");
    REQUIRE(b.status().ok());
    return graph;
  };
  // u (J v) is (u J) v.
  const Tensor x = random_tensor({2, 3, 4}, 11), u = random_tensor({2, 7}, 12), v = random_tensor({2, 3, 4}, 13);
  const auto last = [&](Result<Graph> graph, const Tensor& second) {
    if (!graph.ok()) FAIL(graph.error().message());
    auto session = Session::create(std::move(graph).value());
    if (!session.ok()) FAIL(session.error().message());
    const Result<std::vector<Tensor>> outputs = (*session)->run({x, second});
    if (!outputs.ok()) FAIL(outputs.error().message());
    return to_doubles(outputs->back());
  };
  const std::vector<double> down = last(vjp_graph(network()), u), along = last(jvp_graph(network()), v);
  const std::vector<double> u_values = to_doubles(u), v_values = to_doubles(v);
  CHECK(std::inner_product(along.begin(), along.end(), u_values.begin(), 0.0) ==
        Approx(std::inner_product(down.begin(), down.end(), v_values.begin(), 0.0)).epsilon(1e-4));
}
}  // namespace derivative_graphs_test
