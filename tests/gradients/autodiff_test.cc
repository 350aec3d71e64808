// What the differentiation of graphs does with the shape of the graph itself; rules are checked one by one in
// gradient_check_test.cc.
#include "engine/graph/autodiff.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "engine/graph/builder.h"
#include "engine/graph/passes/pass.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/support/compare.h"

namespace autodiff_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

using Numbers = std::vector<double>;

Tensor vector_of(std::initializer_list<float> values) { return Tensor::of<float>({static_cast<int64_t>(values.size())}, values); }

/// A graph under construction, its gradients, and a run of both.
struct Network {
  Graph graph;
  Builder b{graph, all_ops()};

  Value* input(const char* name, Shape shape, DType type = DType::f32) { return b.input(name, type, std::move(shape)); }
  Value* sum(Value* v) { return b.add("ReduceSum", {v}, make_attributes({{"keepdims", int64_t{0}}})); }

  std::string refusal(std::vector<GradientSeed> seeds, std::vector<Value*> wanted) {
    const auto gradients = add_gradients(graph, all_ops(), seeds, wanted);
    return gradients.ok() ? "no error" : gradients.error().message();
  }

  /// The gradients of `y` (or of several seeds) as outputs.
  void differentiate(std::vector<GradientSeed> seeds, std::vector<Value*> wanted, Unreached unreached = Unreached::null) {
    REQUIRE(b.status().ok());
    auto gradients = add_gradients(graph, all_ops(), seeds, wanted, unreached);
    if (!gradients.ok()) FAIL(gradients.error().message());
    for (Value* g : *gradients) {
      REQUIRE(g);
      graph.add_output(g);
    }
  }

  std::vector<Numbers> run(const std::vector<Tensor>& inputs) const {
    auto session = Session::create(graph.clone());
    if (!session.ok()) FAIL(session.error().message());
    auto outputs = (*session)->run(inputs);
    if (!outputs.ok()) FAIL(outputs.error().message());
    std::vector<Numbers> numbers;
    for (const Tensor& t : *outputs) numbers.push_back(to_doubles(t));
    return numbers;
  }
};

}  // namespace

TEST_CASE("the gradient of x squared is 2 x", "[autodiff]") {
  Network n;
  Value* x = n.input("x", Shape(std::vector<Dim>{}));
  n.differentiate({{n.b.add("Mul", {x, x})}}, {x});
  CHECK(n.run({vector_of({3}).reshaped({})}) == std::vector<Numbers>{{6}});
}

TEST_CASE("a value of several uses gets the sum", "[autodiff]") {
  Network n;
  Value* x = n.input("x", {3});
  Value* y = n.b.add("Add", {n.b.add("Mul", {x, x}), n.b.add("Neg", {x})});
  n.differentiate({{n.sum(n.b.add("Add", {y, x}))}}, {x});
  CHECK(n.run({vector_of({1, -2, 5})}) == std::vector<Numbers>{{2, -4, 10}});
}

TEST_CASE("nodes are called after what they are the gradient of", "[autodiff]") {
  Network n;
  Value* x = n.input("x", {2, 3});
  Value* w = n.input("w", {3, 4});
  Value* y = n.b.add("Tanh", {n.b.add("MatMul", {x, w}, {}, "layer/product")}, {}, "layer/tanh");
  Value* loss = n.b.add("ReduceSum", {n.b.add("Mul", {y, y}, {}, "square")}, make_attributes({{"keepdims", int64_t{0}}}), "loss");
  const size_t forward = n.graph.snapshot().size();
  n.differentiate({{loss}}, {x, w});
  std::vector<std::string> names;
  for (const Node* node : n.graph.snapshot()) names.push_back(node->name());
  names.erase(names.begin(), names.begin() + static_cast<int64_t>(forward));
  names.erase(std::unique(names.begin(), names.end()), names.end());
  // The sum is that of y, which "layer/tanh" makes and "square" uses twice.
  CHECK(names == std::vector<std::string>{"loss.gradient", "square.gradient", "layer/tanh.gradient", "layer/product.gradient"});
}

TEST_CASE("inner values have gradients, and what they are made from too", "[autodiff]") {
  Network n;
  Value* x = n.input("x", {2});
  Value* half = n.b.add("Mul", {x, n.b.constant(Tensor::scalar(0.5f))});
  n.differentiate({{n.sum(n.b.add("Mul", {half, half}))}}, {half, x});
  CHECK(n.run({vector_of({4, -6})}) == std::vector<Numbers>{{4, -6}, {2, -3}});
}

TEST_CASE("results of composite nodes are differentiated, and differentiated by", "[autodiff]") {
  Network n;  // the nodes are expanded first, and their results go
  Value* x = n.input("x", {2});
  Value* inner = n.b.node("com.microsoft", "QuickGelu", {x}, 1)->output();
  Value* outer = n.b.node("com.microsoft", "QuickGelu", {inner}, 1)->output();
  n.graph.add_output(outer);
  n.differentiate({{outer, n.b.constant(vector_of({1, 3}))}}, {inner, x});
  CHECK(n.graph.outputs().size() == 3);
  CHECK(n.run({vector_of({0, 0})}) == std::vector<Numbers>{{0, 0}, {0.5, 1.5}, {0.25, 0.75}});
}

TEST_CASE("an unused output has no part in the gradient", "[autodiff]") {
  Network n;
  Value* x = n.input("x", {4});
  const Node* split = n.b.node("", "Split", {x, n.b.integers({1, 3})}, 2);
  n.differentiate({{n.sum(split->output(1))}}, {x});
  CHECK(n.run({vector_of({1, 2, 3, 4})}) == std::vector<Numbers>{{0, 1, 1, 1}});
}

TEST_CASE("a value without influence has no gradient, or zeros where asked for", "[autodiff]") {
  Network n;
  Value *x = n.input("x", {2}), *other = n.input("other", {3});
  Value* y = n.sum(x);
  const auto gradients = add_gradients(n.graph, all_ops(), std::vector<GradientSeed>{{y}}, std::vector<Value*>{other});
  REQUIRE(gradients.ok());
  CHECK((*gradients)[0] == nullptr);
  n.differentiate({{y}}, {other, x}, Unreached::zeros);
  CHECK(n.run({vector_of({1, 2}), vector_of({1, 2, 3})}) == std::vector<Numbers>{{0, 0, 0}, {1, 1}});
}

TEST_CASE("integers carry no gradient", "[autodiff]") {
  Network n;
  Value* x = n.input("x", {3});
  Value* where = n.b.add("ArgMax", {x}, make_attributes({{"keepdims", int64_t{0}}}));
  Value* number = n.b.add("Cast", {where}, make_attributes({{"to", int64_t{1}}}));
  n.differentiate({{n.sum(n.b.add("Mul", {x, number}))}}, {x});
  CHECK(n.run({vector_of({1, 5, 9})}) == std::vector<Numbers>{{2, 2, 2}});
}

TEST_CASE("a tied embedding is one input and gets the gradients of all its uses", "[autodiff]") {
  Network n;
  Value* table = n.b.constant(Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}), "table");
  Value* ids = n.b.constant(Tensor::of<int64_t>({4}, {2, 0, 2, -1}), "ids");
  Value* rows = n.b.add("Gather", {table, ids});
  Value* scores = n.b.add("MatMul", {rows, n.b.add("Transpose", {table})});
  Value* y = n.sum(scores);
  CHECK(trainable_constants(n.graph) == std::vector<Value*>{table});
  const auto tensors = constants_to_inputs(n.graph, std::vector<std::string>{"table"});
  REQUIRE(tensors.ok());
  CHECK((table->is_input() && table->name() == "table" && n.graph.inputs().back() == table));
  n.differentiate({{y}}, {table});
  // Sum of all rows is (9, 12); sum of the gathered ones (16, 20). Row r: times it was gathered * (9, 12) + (16, 20).
  CHECK(n.run({(*tensors)[0]}) == std::vector<Numbers>{{25, 32, 16, 20, 43, 56}});
}

TEST_CASE("several seeds with gradients of their own", "[autodiff]") {
  Network n;
  Value *x = n.input("x", {2}), *dy = n.input("dy", {2});
  Value* y = n.b.add("Mul", {x, x});
  n.differentiate({{y, dy}, {n.sum(x)}}, {x});
  CHECK(n.run({vector_of({3, 4}), vector_of({10, 100})}) == std::vector<Numbers>{{61, 801}});
}

TEST_CASE("shapes may be symbolic", "[autodiff]") {
  Network n;
  Value* x = n.input("x", Shape({Dim("N"), Dim(2)}));
  Value *weights = n.input("w", {2, 2}), *bias = n.input("b", {2});
  Value* y = n.b.add("Add", {n.b.add("MatMul", {x, weights}), bias});
  n.differentiate(
      {{n.b.add("ReduceMean", {n.b.add("Reshape", {y, n.b.integers({-1})})}, make_attributes({{"keepdims", int64_t{0}}}))}},
      {weights, bias});
  const Tensor w = Tensor::of<float>({2, 2}, {1, 0, 0, 1}), b = vector_of({0, 0});
  CHECK(n.run({Tensor::of<float>({1, 2}, {2, 4}), w, b}) == std::vector<Numbers>{{1, 1, 2, 2}, {0.5, 0.5}});
  CHECK(n.run({Tensor::of<float>({2, 2}, {2, 4, 6, 8}), w, b}) == std::vector<Numbers>{{2, 2, 3, 3}, {0.5, 0.5}});
}

TEST_CASE("where shapes are known nothing is kept for its shape alone", "[autodiff]") {
  Network n;
  Value* x = n.input("x", {2, 3});
  Value* y = n.b.add("ReduceMean", {n.b.add("Reshape", {n.b.add("Exp", {x}), n.b.integers({3, 2})})},
                     make_attributes({{"keepdims", int64_t{0}}}));
  n.differentiate({{y}}, {x});
  REQUIRE(fold_shape_inputs(n.graph, PassContext{.ops = all_ops(), .evaluate = {}}).ok());
  int found = 0;
  for (const auto& node : n.graph.nodes()) {
    if (node->op().traits.shape_only_input < 0) continue;
    CHECK(!node->input(static_cast<size_t>(node->op().traits.shape_only_input)));
    ++found;
  }
  CHECK(found == 3);  // 1 like y, the mean's expansion, the view
  const std::vector<Numbers> dx = n.run({Tensor::of<float>({2, 3}, {0, 0, 0, 0, 0, 0})});
  CHECK(dx[0][5] == Approx(1.0 / 6));
}

TEST_CASE("ties: max pooling takes the first, Max shares, Relu gives 0 at 0", "[autodiff]") {
  Network n;
  Value *image = n.input("image", {1, 1, 4}), *a = n.input("a", {2}), *b = n.input("b", {2}), *x = n.input("x", {3});
  Value* pooled = n.b.add("MaxPool", {image},
                          make_attributes({{"kernel_shape", std::vector<int64_t>{2}}, {"strides", std::vector<int64_t>{2}}}));
  n.differentiate({{n.sum(pooled)}, {n.sum(n.b.add("Max", {a, b}))}, {n.sum(n.b.add("Relu", {x}))}}, {image, a, b, x});
  const auto g = n.run({Tensor::of<float>({1, 1, 4}, {7, 7, 1, 2}), vector_of({1, 5}), vector_of({1, 4}), vector_of({-1, 0, 1})});
  CHECK(g == std::vector<Numbers>{{1, 0, 0, 1}, {0.5, 1}, {0.5, 0}, {0, 0, 1}});
}

TEST_CASE("what has no gradient is refused by name", "[autodiff]") {
  Network n;
  Value* x = n.input("x", {3});
  Node* node = n.b.node("", "BitCast", {x}, 1, make_attributes({{"to", int64_t{1}}}), "wrap");
  REQUIRE(node);
  Value* y = n.sum(node->output());
  const std::string message = n.refusal({{y}}, {x});
  INFO(message);
  CHECK(message.find("wrap") != std::string::npos);
  CHECK(message.find("BitCast") != std::string::npos);
  // Beside the path it does not matter.
  CHECK(n.refusal({{n.sum(x)}}, {x}) == "no error");
}

TEST_CASE("seeds and wanted values are checked", "[autodiff]") {
  Network n;
  Value *x = n.input("x", {3}), *ids = n.input("ids", {3}, DType::i64), *wrong = n.input("wrong", {4});
  Value* y = n.b.add("Neg", {x});
  CHECK(n.refusal({{y}}, {x}).find("one element") != std::string::npos);
  CHECK(n.refusal({{y, wrong}}, {x}).find("'wrong'") != std::string::npos);
  CHECK(n.refusal({{n.sum(y)}}, {ids}).find("floating-point") != std::string::npos);
  CHECK(n.refusal({{ids}}, {x}).find("floating-point") != std::string::npos);
}

TEST_CASE("constants become inputs by name", "[autodiff]") {
  Network n;
  Value* x = n.input("x", {2});
  Value* w = n.b.constant(vector_of({1, 2}), "w");
  Value* ids = n.b.constant(Tensor::of<int64_t>({1}, {0}), "ids");
  n.graph.add_output(n.b.add("Gather", {n.b.add("Mul", {x, w}), ids}));
  const auto refused = [&](std::vector<std::string> names) { return constants_to_inputs(n.graph, names).error().message(); };
  CHECK(refused({"nothing"}).find("'nothing'") != std::string::npos);
  CHECK(refused({"x"}).find("no constant") != std::string::npos);
  CHECK(refused({"ids"}).find("floating point") != std::string::npos);
  CHECK(refused({"w", "w"}).find("twice") != std::string::npos);
  CHECK(w->is_constant());
  CHECK(constants_to_inputs(n.graph, std::vector<std::string>{"w"}).ok());
  CHECK(n.run({vector_of({3, 4}), vector_of({5, 6})}) == std::vector<Numbers>{{15}});
}

TEST_CASE("the gradient of a product with zeros is the product of the others", "[autodiff]") {
  Network n;
  Value* x = n.input("x", {Dim(4), Dim(3)});
  Value* y = n.b.add("ReduceProd", {x, n.b.integers({1})}, make_attributes({{"keepdims", int64_t{0}}}));
  n.differentiate({{n.sum(y), nullptr}}, {x});
  const Tensor rows = Tensor::of<float>({4, 3}, {2, 3, 4, 2, 0, 4, 0, 3, 0, 0, 0, 0});
  CHECK(n.run({rows})[0] == Numbers{12, 8, 6, 0, 8, 0, 0, 0, 0, 0, 0, 0});
}
}  // namespace autodiff_test
