#include "validate/compare/tested_graph.h"

#include <catch2/catch.hpp>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"

namespace tested_graph_test {
using namespace svengine;
using validate::TestedGraph;

namespace {

Tensor ramp(Dims dims) {
  MutableTensor t = *Tensor::allocate(DType::f32, std::move(dims));
  float x = -1;
  for (float& v : t.data<float>()) v = x += 0.01f;
  return t;
}

/// y = Relu(Conv(x) + x), z = Identity(Sigmoid(y)).
Graph residual() {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, {Dim("N"), Dim(4), Dim(6), Dim(6)});
  Value* w = b.constant(ramp({4, 4, 3, 3}), "w");
  Value* c = b.add("Conv", {x, w}, make_attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), "conv");
  Value* y = b.add("Relu", {b.add("Add", {c, x}, {}, "sum")}, {}, "relu");
  b.output(b.add("Identity", {b.add("Sigmoid", {y}, {}, "sigmoid")}, {}, "same"), "z");
  REQUIRE(Status(b.status()).ok());
  return graph;
}

TestedGraph tested(const Graph& graph, bool optimize) {
  SessionOptions options;
  options.optimize = optimize;
  REQUIRE(choose_kernels(options).ok());
  Result<TestedGraph> out = TestedGraph::create(graph, {ramp({2, 4, 6, 6})}, options);
  if (!out.ok()) FAIL(out.error().message());
  return std::move(*out);
}

std::vector<std::string> names_of(const validate::Step& step) {
  std::vector<std::string> out;
  for (const Node* n : step.nodes) out.push_back(n->name());
  return out;
}

}  // namespace

TEST_CASE("a fused step gives what its last node gave") {
  const Graph graph = residual();
  const TestedGraph fused = tested(graph, true);
  REQUIRE(fused.steps().size() == 2);
  const validate::Step &first = fused.steps()[0], &second = fused.steps()[1];
  CHECK(first.outputs[0] == "relu");
  CHECK(names_of(first) == std::vector<std::string>{"conv", "sum", "relu"});
  CHECK(second.inputs[0] == "relu");
  CHECK(second.outputs[0] == "z");
  CHECK(names_of(second) == std::vector<std::string>{"sigmoid", "same"});
}

TEST_CASE("a fused step that gives nothing of the file stands for nothing, and not for what it gave before it was fused") {
  Graph graph;  // the two Transposes behind the Relu become one, and the Relu moves before them all, into the Conv
  Builder b(graph, all_ops());
  const auto transpose = [&](Value* v, std::vector<int64_t> perm, const char* name) {
    return b.add("Transpose", {v}, make_attributes({{"perm", std::move(perm)}}), name);
  };
  Value* c = b.add("Conv", {b.input("x", DType::f32, {Dim("N"), Dim(4), Dim(6), Dim(6)}), b.constant(ramp({4, 4, 1, 1}), "w")}, {}, "conv");
  Value* y = b.add("Relu", {transpose(c, {2, 1, 3, 0}, "there")}, {}, "relu");
  b.output(transpose(transpose(y, {3, 1, 0, 2}, "back"), {0, 2, 3, 1}, "last"), "z");
  REQUIRE(Status(b.status()).ok());
  const TestedGraph fused = tested(graph, true);
  REQUIRE(fused.steps().size() == 2);
  CHECK(fused.steps()[0].node->op().name == std::string("FusedConv"));
  CHECK(fused.steps()[0].outputs[0] == "");
  CHECK(fused.steps()[1].outputs[0] == "z");
  CHECK(names_of(fused.steps()[1]) == std::vector<std::string>{"conv", "there", "relu", "back", "last"});
}

TEST_CASE("without optimisation every node is a step") {
  const Graph graph = residual();
  const TestedGraph plain = tested(graph, false);
  REQUIRE(plain.steps().size() == 5);
  for (const validate::Step& step : plain.steps()) CHECK(step.nodes.size() == 1);
  CHECK(plain.steps()[1].outputs[0] == "sum");
}

TEST_CASE("origins follow one graph until they are stopped") {
  Graph graph = residual();
  Origins origins(graph);
  const auto value = [&](const char* name) {
    Value* found = nullptr;
    graph.for_each_value([&](Value& v) { found = v.name() == name ? &v : found; });
    return found;
  };
  Value *conv = value("conv"), *sum = value("sum"), *relu = value("relu"), *x = value("x");
  Graph other = residual();
  Node* first = other.nodes().front().get();
  other.replace_uses(first->output(), other.inputs()[0]);
  CHECK(*origins.of(conv) == "conv");
  graph.replace_uses(sum, conv);
  CHECK(*origins.of(conv) == "sum");
  graph.replace_uses(relu, conv);
  CHECK(*origins.of(conv) == "relu");
  graph.replace_uses(conv, x);  // an input stays what it is
  CHECK(*origins.of(x) == "x");
  const Node* made = graph.add_node(*all_ops().find("", "Relu"), "new", {x}, 1);
  CHECK(origins.of(made->output()) == nullptr);
  origins.stop();
  graph.replace_uses(x, conv);
  CHECK(*origins.of(conv) == "relu");
}
}  // namespace tested_graph_test
