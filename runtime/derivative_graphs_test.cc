// Derivatives of networks of narrow types beside those of the same network in float32.
#include "runtime/derivative_graphs.h"

#include <catch2/catch.hpp>

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
}  // namespace derivative_graphs_test
