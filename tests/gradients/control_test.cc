// Gradients of If, Loop and Scan: against those of the same nodes written one after the other, and against PyTorch's numbers, which
// record_control.py prints.
#include <catch2/catch.hpp>

#include "engine/graph/autodiff.h"
#include "engine/graph/builder.h"
#include "engine/graph/capture_constants.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"

namespace control_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

using Numbers = std::vector<double>;
using Describe = std::function<void(Builder&)>;

/// A body: what it captures are its last inputs.
Attribute body_of(const Describe& describe) {
  auto graph = std::make_shared<Graph>();
  graph->name = "body";
  Builder b(*graph, all_ops());
  describe(b);
  if (!b.status().ok()) FAIL(b.status().error().message());
  return Subgraph(std::move(graph));
}

/// Gradients of the sum of the graph's first output by all inputs that are floating point.
std::vector<Numbers> gradients_of(const Describe& describe, const std::vector<Tensor>& inputs) {
  Graph graph;
  Builder b(graph, all_ops());
  describe(b);
  Value* loss = b.add("ReduceSum", {graph.outputs()[0]}, make_attributes({{"keepdims", int64_t{0}}}));
  if (!b.status().ok()) FAIL(b.status().error().message());
  std::vector<Value*> wanted;
  for (Value* v : graph.inputs())
    if (v->type.dtype == DType::f32) wanted.push_back(v);
  const GradientSeed seed{loss, nullptr};
  auto gradients = add_gradients(graph, all_ops(), std::span(&seed, 1), wanted, Unreached::zeros);
  if (!gradients.ok()) FAIL(gradients.error().message());
  for (Value* g : *gradients) graph.add_output(g);
  auto session = Session::create(std::move(graph));
  if (!session.ok()) FAIL(session.error().message());
  auto outputs = (*session)->run(inputs);
  if (!outputs.ok()) FAIL(outputs.error().message());
  std::vector<Numbers> out;
  for (size_t i = outputs->size() - wanted.size(); i < outputs->size(); ++i) out.push_back(to_doubles((*outputs)[i]));
  return out;
}

void check_same(const std::vector<Numbers>& a, const std::vector<Numbers>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("gradient " << i);
    REQUIRE(a[i].size() == b[i].size());
    for (size_t j = 0; j < a[i].size(); ++j) CHECK(a[i][j] == Approx(b[i][j]).epsilon(1e-5).margin(1e-6));
  }
}

Value* slice(Builder& b, Value* x, int64_t at, int64_t axis) {
  return b.add("Squeeze", {b.add("Slice", {x, b.integers({at}), b.integers({at + 1}), b.integers({axis})}), b.integers({axis})});
}

/// state' = tanh(state W + x);  y = state' x
std::pair<Value*, Value*> trip(Builder& b, Value* state, Value* x, Value* w) {
  Value* next = b.add("Tanh", {b.add("Add", {b.add("MatMul", {state, w}), x})});
  return {next, b.add("Mul", {next, x})};
}

constexpr int64_t kTrips = 4;

/// Along axis 1, the last slice first; scanned outputs are stacked along their axis 1.
Describe scanned(bool reversed, bool with_scan) {
  return [=](Builder& b) {
    Value *state = b.input("state", DType::f32, {2, 3}), *x = b.input("x", DType::f32, {2, kTrips, 3});
    Value* w = b.input("w", DType::f32, {3, 3});
    Value *last = state, *all = nullptr;
    if (with_scan) {
      Attributes attributes;
      attributes.set("body", body_of([](Builder& inner) {
                       Value *s = inner.input("s", DType::f32, {2, 3}), *slice = inner.input("slice", DType::f32, {2, 3}),
                             *weights = inner.input("weights", DType::f32, {3, 3});
                       const auto [next, y] = trip(inner, s, slice, weights);
                       inner.output(next, "next");
                       inner.output(y, "y");
                     }));
      attributes.set("num_scan_inputs", int64_t{1});
      attributes.set("captured", int64_t{1});
      attributes.set("scan_input_axes", std::vector<int64_t>{1});
      attributes.set("scan_output_axes", std::vector<int64_t>{-2});
      attributes.set("scan_input_directions", std::vector<int64_t>{reversed});
      attributes.set("scan_output_directions", std::vector<int64_t>{!reversed});
      Node* node = b.node("", "Scan", {state, x, w}, 2, std::move(attributes));
      last = node->output(0), all = node->output(1);
    } else {
      std::vector<Value*> parts(kTrips);
      for (int64_t t = 0; t < kTrips; ++t) {
        const auto [next, y] = trip(b, last, slice(b, x, reversed ? kTrips - 1 - t : t, 1), w);
        parts[static_cast<size_t>(reversed ? t : kTrips - 1 - t)] = b.add("Unsqueeze", {y, b.integers({1})});
        last = next;
      }
      all = b.add("Concat", parts, make_attributes({{"axis", int64_t{1}}}));
    }
    Value* squares = b.add("ReduceSum", {b.add("Mul", {all, b.add("Mul", {all, x})})}, make_attributes({{"keepdims", int64_t{0}}}));
    b.output(b.add("Add", {b.add("ReduceSum", {last}, make_attributes({{"keepdims", int64_t{0}}})), squares}), "loss");
  };
}

/// h -> tanh(h w), as long as its sum is above a limit; w is captured, or one of the body's constants.
Attribute halving_body(const Shape& shape, const Tensor* weights = nullptr) {
  return body_of([=](Builder& b) {
    b.input("i", DType::i64, Shape(std::vector<Dim>{}));
    b.input("going", DType::boolean, Shape(std::vector<Dim>{}));
    Value *h = b.input("h", DType::f32, shape), *w = weights ? b.constant(*weights) : b.input("w", DType::f32, {3});
    Value* next = b.add("Tanh", {b.add("Mul", {h, w})});
    Value* sum = b.add("ReduceSum", {b.add("Abs", {next})}, make_attributes({{"keepdims", int64_t{0}}}));
    b.output(b.add("Greater", {sum, b.constant(Tensor::scalar(0.4f))}), "go_on");
    b.output(next, "next");
    b.output(b.add("Mul", {next, h}), "product");
  });
}

}  // namespace

TEST_CASE("the gradient of Scan is that of its trips one after the other") {
  const std::vector<Tensor> inputs = {random_tensor({2, 3}, 1), random_tensor({2, kTrips, 3}, 2), random_tensor({3, 3}, 3)};
  for (const bool reversed : {false, true}) {
    INFO("reversed " << reversed);
    check_same(gradients_of(scanned(reversed, true), inputs), gradients_of(scanned(reversed, false), inputs));
  }
}

TEST_CASE("the gradient of a Loop that its condition ends is that of the trips that it made") {
  const auto describe = [](bool with_loop) -> Describe {
    return [=](Builder& b) {
      Value *h = b.input("h", DType::f32, {3}), *w = b.input("w", DType::f32, {3});
      Value *sum = nullptr, *last = h;
      const Attributes plain = make_attributes({{"keepdims", int64_t{0}}});
      if (with_loop) {
        Attributes attributes;
        attributes.set("body", halving_body(Shape()));  // as the importer makes it: a carried value may change its shape
        attributes.set("captured", int64_t{1});
        Node* node = b.node("", "Loop", {nullptr, b.constant(Tensor::scalar(true)), h, w}, 2, std::move(attributes));
        last = b.add("Reshape", {node->output(0), b.integers({3})});
        sum = b.add("ReduceSum", {b.add("Reshape", {node->output(1), b.integers({-1})})}, Attributes(plain));
      } else {
        for (int i = 0; i < 4; ++i) {
          Value* next = b.add("Tanh", {b.add("Mul", {last, w})});
          Value* part = b.add("ReduceSum", {b.add("Mul", {next, last})}, Attributes(plain));
          sum = sum ? b.add("Add", {sum, part}) : part;
          last = next;
        }
      }
      b.output(b.add("Add", {b.add("ReduceSum", {last}, Attributes(plain)), sum}), "loss");
    };
  };
  const std::vector<Tensor> inputs = {Tensor::of<float>({3}, {0.9f, -0.8f, 0.7f}), Tensor::of<float>({3}, {0.5f, 0.6f, 0.7f})};
  const std::vector<Numbers> got = gradients_of(describe(true), inputs);
  check_same(got, gradients_of(describe(false), inputs));
  check_same(got, {{1.0593222, -1.0947822, 1.5511341}, {1.8017305, 0.9110753, 2.3532529}});  // PyTorch 1.13: record_control.py
}

TEST_CASE("the gradient of If is the taken branch's, within a Loop too") {
  const auto branch = [](bool doubles) {
    return body_of([=](Builder& b) {
      Value *h = b.input("h", DType::f32, {2}), *w = b.input("w", DType::f32, {2});
      b.output(doubles ? b.add("Mul", {b.add("Exp", {h}), w}) : b.add("Sub", {h, w}), "y");
    });
  };
  const auto choose = [&](Builder& b, Value* condition, Value* h, Value* w) {
    Attributes attributes;
    attributes.set("then_branch", branch(true));
    attributes.set("else_branch", branch(false));
    attributes.set("captured", int64_t{2});
    return b.node("", "If", {condition, h, w}, 1, std::move(attributes))->output();
  };
  const Tensor h = Tensor::of<float>({2}, {0.3f, -0.2f}), w = Tensor::of<float>({2}, {0.5f, 0.4f});
  for (const bool yes : {true, false}) {
    const Describe alone = [&](Builder& b) {
      Value* condition = b.input("condition", DType::boolean, Shape(std::vector<Dim>{}));
      Value *x = b.input("h", DType::f32, {2}), *v = b.input("w", DType::f32, {2});
      b.output(choose(b, condition, x, v), "y");
    };
    const double e0 = std::exp(0.3), e1 = std::exp(-0.2);
    std::vector<Numbers> expected{{0.5 * e0, 0.4 * e1}, {e0, e1}};
    if (!yes) expected = {{1, 1}, {-1, -1}};
    check_same(gradients_of(alone, {Tensor::scalar(yes), h, w}), expected);
  }
  const Describe nested = [&](Builder& b) {  // trips 0 and 2 take one branch, trip 1 the other
    Value *x = b.input("h", DType::f32, {2}), *v = b.input("w", DType::f32, {2});
    Attributes attributes;
    attributes.set("body", body_of([&](Builder& inner) {
                     Value* i = inner.input("i", DType::i64, Shape(std::vector<Dim>{}));
                     Value* going = inner.input("going", DType::boolean, Shape(std::vector<Dim>{}));
                     Value *carried = inner.input("carried", DType::f32, {2}), *captured = inner.input("captured", DType::f32, {2});
                     inner.output(inner.add("Identity", {going}), "go_on");
                     Value* odd = inner.add("Equal", {i, inner.constant(Tensor::scalar<int64_t>(1))});
                     inner.output(choose(inner, inner.add("Not", {odd}), carried, captured), "next");
                   }));
    attributes.set("captured", int64_t{1});
    b.output(b.node("", "Loop", {b.constant(Tensor::scalar<int64_t>(3)), nullptr, x, v}, 1, std::move(attributes))->output(), "y");
  };
  const auto at = [](double a, double c) {  // y = exp(exp(a) c - c) c
    const double first = std::exp(a) * c, y = std::exp(first - c) * c;
    return std::pair(y * first, std::exp(first - c) + y * (std::exp(a) - 1));
  };
  const auto [h0, w0] = at(0.3f, 0.5f);
  const auto [h1, w1] = at(-0.2f, 0.4f);
  check_same(gradients_of(nested, {h, w}), {{h0, h1}, {w0, w1}});
}

TEST_CASE("weights that a body holds as constants, one within another too, are trained as the graph's") {
  const Tensor weights = Tensor::of<float>({3}, {0.5f, 0.6f, 0.7f});
  Graph graph;
  Builder b(graph, all_ops());
  Value* h = b.input("h", DType::f32, {3});
  b.constant(weights, "w");
  // The Loop stands in a branch of an If, which holds the constant because the Loop's body does.
  const Attribute branch = body_of([&](Builder& inner) {
    Value* x = inner.input("x", DType::f32, {3});
    inner.constant(weights, "w");
    Attributes attributes;
    attributes.set("body", halving_body({3}, &weights));
    Node* node = inner.node("", "Loop", {nullptr, inner.constant(Tensor::scalar(true)), x}, 2, std::move(attributes));
    const Attributes plain = make_attributes({{"keepdims", int64_t{0}}});
    Value *last = inner.add("ReduceSum", {node->output(0)}, plain), *products = inner.add("ReduceSum", {node->output(1)}, plain);
    inner.output(inner.add("Add", {last, products}), "y");
  });
  Attributes attributes;
  for (const char* name : {"then_branch", "else_branch"}) attributes.set(name, branch);
  attributes.set("captured", int64_t{1});
  Value* condition = b.input("condition", DType::boolean, Shape(std::vector<Dim>{}));
  Value* y = b.node("", "If", {condition, h}, 1, std::move(attributes))->output();
  REQUIRE(b.status().ok());
  CHECK(trainable_constants(graph).empty());
  capture_shared_constants(graph);
  REQUIRE(trainable_constants(graph).size() == 1);
  REQUIRE(constants_to_inputs(graph, std::vector<std::string>{"w"}).ok());
  const GradientSeed seed{y, nullptr};
  const std::vector<Value*> wanted = {graph.inputs().back()};
  auto gradients = add_gradients(graph, all_ops(), std::span(&seed, 1), wanted, Unreached::zeros);
  if (!gradients.ok()) FAIL(gradients.error().message());
  graph.add_output((*gradients)[0]);
  auto session = Session::create(std::move(graph));
  if (!session.ok()) FAIL(session.error().message());
  auto outputs = (*session)->run({Tensor::of<float>({3}, {0.9f, -0.8f, 0.7f}), Tensor::scalar(true), weights});
  if (!outputs.ok()) FAIL(outputs.error().message());
  check_same({to_doubles((*outputs)[0])}, {{1.8017305, 0.9110753, 2.3532529}});
}

TEST_CASE("what a gradient of a Loop or Scan cannot be is refused with its reason") {
  Graph graph;
  Builder b(graph, all_ops());
  Value *x = b.input("x", DType::f32, {1, 2, 3}), *s = b.input("s", DType::f32, {1, 3});
  Attributes attributes;
  attributes.set("body", body_of([](Builder& inner) {
                   Value *state = inner.input("state", DType::f32, {3}), *slice = inner.input("slice", DType::f32, {3});
                   inner.output(inner.add("Add", {state, slice}), "next");
                 }));
  attributes.set("num_scan_inputs", int64_t{1});
  attributes.set("batched", int64_t{1});
  Node* node = b.node("", "Scan", {nullptr, s, x}, 1, std::move(attributes));
  REQUIRE(b.status().ok());
  const GradientSeed seed{node->output(), b.input("dy", DType::f32, {1, 3})};
  const std::vector<Value*> wanted = {x};
  const auto gradients = add_gradients(graph, all_ops(), std::span(&seed, 1), wanted);
  REQUIRE_FALSE(gradients.ok());
  CHECK_THAT(gradients.error().message(), Catch::Matchers::Contains("opset 8") && Catch::Matchers::Contains("(Scan)"));
}
}  // namespace control_test
