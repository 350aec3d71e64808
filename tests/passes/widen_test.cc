// Pass widen: nodes of types that have no kernels.
#include "engine/graph/autodiff.h"
#include "tests/passes/pass_test_util.h"

using namespace svengine;
using namespace svengine::tests;

namespace {

Tensor halves(Dims dims, uint64_t seed, double low = -2, double high = 2) {
  return random_tensor_of(DType::f16, std::move(dims), seed, low, high);
}

}  // namespace

TEST_CASE("a node without kernels for float16 is computed in float32, and its constants are converted at once") {
  const Graph after = check_pass(
      [](Builder& b) {
        // Weights of 1: sums are exact, so that no order of summing rounds differently.
        Value* y = b.add("Conv", {b.input("x", DType::f16, {1, 3, 5, 5}), b.constant(halves({4, 3, 3, 3}, 2, 1, 1))});
        b.output(b.add("Relu", {y}), "y");
        b.output(b.add("Transpose", {y}), "z");
      },
      "widen", {halves({1, 3, 5, 5}, 1)});
  // Between Conv and Relu the value is rounded to float16; Transpose moves it as it is.
  CHECK(ops_of(after) == "Cast Conv Cast Cast Relu Cast Transpose");
  CHECK(node_of(after, "Conv").input(1)->type.dtype == DType::f32);
  CHECK(node_of(after, "Conv").input(1)->is_constant());
  for (const Value* v : after.outputs()) CHECK(v->type.dtype == DType::f16);
}

TEST_CASE("results are rounded to the narrow type after every node") {
  for (const DType type : {DType::f16, DType::bf16}) {
    const Graph graph = build([type](Builder& b) {
      Value* x = b.input("x", type, {1});
      Value* one = b.add("Cast", {scalar(b, 1.0f)}, make_attributes({{"to", static_cast<int64_t>(type)}}));
      b.output(b.add("Add", {b.add("Add", {x, one}), one}), "y");  // x + 1 is a tie, which rounds to even
    });
    const double large = type == DType::f16 ? 2048 : 256;
    const Tensor x = random_tensor_of(type, {1}, 1, large, large);
    CHECK(to_doubles(session_run(graph.clone(), {x})[0])[0] == large);
    CHECK(to_doubles(evaluated(graph, {x})[0])[0] == large);
  }
}

TEST_CASE("one value that several nodes read is converted once, and one in two places of a node") {
  const Graph after = check_pass(
      [](Builder& b) {
        Value* x = b.input("x", DType::f16, {4});
        b.output(b.add("Mul", {x, x}), "y");
        b.output(b.add("Exp", {x}), "z");
      },
      "widen", {halves({4}, 1)});
  CHECK(ops_of(after) == "Cast Mul Cast Exp Cast");
}

TEST_CASE("small integers go through a wider type that holds them") {
  const Graph after = check_pass(
      [](Builder& b) {
        b.output(b.add("MaxPool", {b.input("x", DType::u8, {1, 2, 6, 6})},
                       make_attributes({{"kernel_shape", std::vector<int64_t>{3, 3}}})),
                 "y");
      },
      "widen", {random_tensor_of(DType::u8, {1, 2, 6, 6}, 1, 0, 256)});
  CHECK(ops_of(after) == "Cast MaxPool Cast");
  CHECK(node_of(after, "MaxPool").input(0)->type.dtype == DType::f32);
}

TEST_CASE("a graph of types that all have kernels stays as it is, optimised or not") {
  const Describe describe = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {4, 4});
    b.output(b.add("MatMul", {x, b.add("Exp", {x})}), "y");
    b.output(b.add("Transpose", {b.input("h", DType::f16, {2, 3})}), "z");
  };
  const Graph after = check_pass(describe, "widen", {random_tensor({4, 4}, 1), halves({2, 3}, 2)});
  CHECK(ops_of(after) == "Exp MatMul Transpose");
}

TEST_CASE("float16 networks run without optimisation too") {
  SessionOptions options;
  options.topology = parse_topology("1x1").value();
  options.optimize = false;
  Graph graph = build([](Builder& b) { b.output(b.add("Exp", {b.input("x", DType::f16, {3})}), "y"); });
  const Tensor x = halves({3}, 1);
  const std::vector<Tensor> expected = evaluated(graph, {x});
  auto session = Session::create(std::move(graph), options);
  REQUIRE(session.ok());
  check_close((*session)->run({x}).value(), expected, "not optimised");
}

TEST_CASE("gradients of a float16 network are those of its float32 nodes, in the weights' type") {
  Graph graph = build([](Builder& b) {
    Value* w = b.input("w", DType::f16, {3, 2});
    b.output(b.add("Tanh", {b.add("MatMul", {b.input("x", DType::f16, {4, 3}), w})}), "y");
  });
  require_ok(prepare_for_gradients(graph, context()));
  Value *y = graph.outputs()[0], *w = graph.inputs()[0];
  Value* seed = graph.add_input("dy", y->type);
  const std::vector<GradientSeed> seeds = {{y, seed}};
  const std::vector<Value*> wanted = {w};
  auto gradients = add_gradients(graph, all_ops(), seeds, wanted, Unreached::zeros);
  if (!gradients.ok()) FAIL(gradients.error().message());
  REQUIRE((*gradients)[0]->type.dtype == DType::f16);
  graph.add_output((*gradients)[0]);
  const Tensor weights = halves({3, 2}, 1, -1, 1), x = halves({4, 3}, 2, -1, 1), dy = halves({4, 2}, 3, 0.5, 1);
  const std::vector<Tensor> results = session_run(std::move(graph), {weights, x, dy});
  const std::vector<double> wv = to_doubles(weights), xv = to_doubles(x), dv = to_doubles(dy), gv = to_doubles(results[1]);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 2; ++j) {
      double expected = 0;
      for (size_t r = 0; r < 4; ++r) {
        double t = 0;
        for (size_t k = 0; k < 3; ++k) t += xv[r * 3 + k] * wv[k * 2 + j];
        expected += xv[r * 3 + i] * dv[r * 2 + j] * (1 - std::tanh(t) * std::tanh(t));
      }
      CHECK(gv[i * 2 + j] == Approx(expected).margin(4e-3));
    }
}
