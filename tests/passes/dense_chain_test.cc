// Pass dense_chain: layers one after the other, and branches side by side, that become one node.
#include "tests/passes/pass_test_util.h"

namespace dense_chain_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

constexpr int64_t kRows = 70;

Value* dense(Builder& b, Value* x, int64_t inputs, int64_t outputs, uint64_t seed, const char* activation = nullptr, bool turned = true) {
  Value* weights = b.constant(random_tensor(turned ? Dims{outputs, inputs} : Dims{inputs, outputs}, seed, -0.3, 0.3));
  Value* y = b.add("Gemm", {x, weights, b.constant(random_tensor({outputs}, seed + 50))}, make_attributes({{"transB", int64_t{turned}}}));
  return activation ? b.add(activation, {y}) : y;
}

Describe network(const std::function<Value*(Builder&, Value*)>& body, int64_t rows = kRows) {
  return [=](Builder& b) { b.output(body(b, b.input("x", DType::f32, {rows, 12})), "y"); };
}

/// What the pass makes of products that have their epilogues.
Graph chained(const Describe& describe, int64_t rows = kRows) {
  Graph graph = build(describe);
  run_pass(graph, "mat_mul");
  const std::vector<Tensor> x = {random_tensor({rows, 12}, 1)};
  const std::vector<Tensor> before = evaluated(graph, x, reference_context());
  run_pass(graph, "dense_chain");
  check_close(evaluated(graph, x), before, "after the pass");
  check_close(session_run(build(describe), x), before, "session");
  return graph;
}

std::vector<Dims> weights_of(const Node& chain) {
  std::vector<Dims> all;
  for (size_t i = 1; i < chain.inputs().size(); i += 2) all.push_back(chain.input(i)->constant().dims());
  return all;
}

}  // namespace

TEST_CASE("dense layers one after the other become a chain") {
  const Graph graph = chained(network([](Builder& b, Value* x) {
    return dense(b, dense(b, dense(b, x, 12, 20, 2, "Tanh"), 20, 9, 3, "Relu", false), 9, 5, 4);
  }));
  CHECK(ops_of(graph) == "DenseChain");
  const Node& chain = node_of(graph, "DenseChain");
  CHECK(*chain.attributes.get<std::vector<std::string>>("activations") == std::vector<std::string>{"tanh", "relu", ""});
  CHECK(weights_of(chain) == std::vector<Dims>{{20, 12}, {9, 20}, {5, 9}});
}

TEST_CASE("a layer without a bias gets one of zeros") {
  const Graph graph = chained(network([](Builder& b, Value* x) {
    return b.add("MatMul", {b.add("Tanh", {b.add("MatMul", {x, b.constant(random_tensor({12, 9}, 2))})}), b.constant(random_tensor({9, 4}, 3))});
  }));
  CHECK(ops_of(graph) == "DenseChain");
}

TEST_CASE("layers whose results are read elsewhere, single rows and single layers stay products") {
  const Graph shared = chained(network([](Builder& b, Value* x) {
    Value* h = dense(b, x, 12, 20, 2, "Tanh");
    return b.add("Add", {b.add("Neg", {h}), dense(b, h, 20, 20, 3, "Tanh")});
  }));
  CHECK(ops_of(shared) == "FusedMatMul Neg FusedMatMul Add");
  const auto two = [](Builder& b, Value* x) { return dense(b, dense(b, x, 12, 20, 2, "Tanh"), 20, 9, 3); };
  CHECK(ops_of(chained(network(two, 4), 4)) == "FusedMatMul FusedMatMul");
  CHECK(ops_of(chained(network([](Builder& b, Value* x) { return dense(b, x, 12, 20, 2, "Tanh"); }))) == "FusedMatMul");
}

TEST_CASE("branches that a Concat joins become layers of groups, behind what they read") {
  const auto branches = [](int64_t last_width) {
    return network([=](Builder& b, Value* x) {
      Value* h = dense(b, x, 12, 16, 2, "Tanh");
      std::vector<Value*> parts;
      for (uint64_t i = 0; i < 5; ++i) {
        const int64_t outputs = i == 4 ? last_width : 1;
        parts.push_back(dense(b, dense(b, h, 16, 6, 10 + i, "Tanh"), 6, outputs, 20 + i));
      }
      return b.add("Concat", parts, make_attributes({{"axis", int64_t{1}}}));
    });
  };
  const Graph graph = chained(branches(1));
  CHECK(ops_of(graph) == "DenseChain");
  CHECK(weights_of(node_of(graph, "DenseChain")) == std::vector<Dims>{{16, 12}, {30, 16}, {5, 1, 6}});
  const Graph unlike = chained(branches(2));
  CHECK(ops_of(unlike).find("Concat") != std::string::npos);
}
}  // namespace dense_chain_test
