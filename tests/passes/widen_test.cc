// Pass widen: nodes of types that have no kernels.
#include "engine/graph/autodiff.h"
#include "tests/passes/pass_test_util.h"

namespace widen_test {
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
  // Between Conv, Relu and Transpose the value stays wide.
  CHECK(ops_of(after) == "Cast Conv Relu Cast Transpose Cast");
  CHECK(node_of(after, "Conv").input(1)->type.dtype == DType::f32);
  CHECK(node_of(after, "Conv").input(1)->is_constant());
  for (const Value* v : after.outputs()) CHECK(v->type.dtype == DType::f16);
}

TEST_CASE("chains of narrow types are rounded once, and every node is where nothing is optimised") {
  for (const DType type : {DType::f16, DType::bf16}) {
    const Graph graph = build([type](Builder& b) {
      Value* x = b.input("x", type, {1, 2});
      Value* one = b.add("Cast", {scalar(b, 1.0f)}, make_attributes({{"to", static_cast<int64_t>(type)}}));
      Value* moved = b.add("Transpose", {b.add("Add", {x, one})});  // x + 1 is a tie, which rounds to even
      b.output(b.add("Add", {b.add("Identity", {moved}), one}), "y");
      b.output(moved, "z");
    });
    const double large = type == DType::f16 ? 2048 : 256;
    const Tensor x = random_tensor_of(type, {1, 2}, 1, large, large);
    CHECK(to_doubles(session_run(graph.clone(), {x})[0])[0] == large + 2);
    CHECK(to_doubles(session_run(graph.clone(), {x})[1])[1] == large);  // an output is of its type
    CHECK(to_doubles(evaluated(graph, {x})[0])[0] == large);
    SessionOptions options;
    options.topology = parse_topology("1x1").value();
    options.optimize = false;
    auto session = Session::create(graph.clone(), options);
    REQUIRE(session.ok());
    CHECK(to_doubles((*session)->run({x}).value()[0])[0] == large);
  }
}

TEST_CASE("a Cast of the file rounds, and so does what wraps") {
  const Graph casts = build([](Builder& b) {
    Value* wide = b.add("Cast", {b.add("Add", {b.input("x", DType::f16, {1}), b.input("y", DType::f16, {1})})},
                        make_attributes({{"to", static_cast<int64_t>(DType::f32)}}));
    b.output(wide, "sum");
  });
  const Tensor x = random_tensor_of(DType::f16, {1}, 1, 2048, 2048), one = random_tensor_of(DType::f16, {1}, 1, 1, 1);
  CHECK(to_doubles(session_run(casts.clone(), {x, one})[0])[0] == 2048);
  const Graph wraps = build([](Builder& b) {
    Value* x = b.input("x", DType::u16, {1});
    Value* small = b.add("Cast", {x}, make_attributes({{"to", static_cast<int64_t>(DType::i8)}}));
    b.output(b.add("Abs", {b.add("Neg", {b.add("Neg", {small})})}), "y");
  });
  const Tensor minus = random_tensor_of(DType::u16, {1}, 1, 128, 128);  // -128 as int8, whose negation is itself
  CHECK(to_doubles(session_run(wraps.clone(), {minus})[0]) == to_doubles(evaluated(wraps, {minus})[0]));
}

TEST_CASE("what joins a narrow value and one that is wide stays narrow, and a chain does not overflow in between") {
  const Graph after = check_pass(
      [](Builder& b) {
        const Attributes axis = make_attributes({{"axis", int64_t{0}}});
        Value* exp = b.add("Exp", {b.input("x", DType::f16, {2, 2})});
        b.output(b.add("Concat", {b.input("cache", DType::f16, {2, 2}), exp}, Attributes(axis)), "y");
        b.output(b.add("Relu", {b.add("Concat", {exp, exp}, Attributes(axis))}), "z");
      },
      "widen", {halves({2, 2}, 1), halves({2, 2}, 2)});
  CHECK(ops_of(after) == "Cast Exp Cast Concat Concat Relu Cast");
  const Graph sum = build([](Builder& b) {
    Value* x = b.input("x", DType::f16, {1});
    b.output(b.add("Sub", {b.add("Add", {x, x}), x}), "y");
  });
  const Tensor large = random_tensor_of(DType::f16, {1}, 1, 60000, 60000);
  CHECK(to_doubles(session_run(sum.clone(), {large})[0])[0] == to_doubles(large)[0]);
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
}  // namespace widen_test
