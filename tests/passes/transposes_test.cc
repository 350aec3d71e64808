// Pass `transposes`: what moves, what cancels, what has to stay.
#include <numeric>

#include "engine/graph/text.h"
#include "tests/passes/pass_test_util.h"

namespace transposes_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

const std::vector<int64_t> kToLast{0, 2, 3, 1}, kToFirst{0, 3, 1, 2};

Value* transposed(Builder& b, Value* x, std::vector<int64_t> perm) { return b.add("Transpose", {x}, make_attributes({{"perm", std::move(perm)}})); }

using Between = std::function<Value*(Builder&, Value*)>;

/// An image [2, 5, 4, 3] made channels last, the given nodes, and back.
Graph between(const Between& nodes, std::vector<int64_t> back = kToFirst) {
  return check_pass(
      [&](Builder& b) {
        Value* x = transposed(b, b.input("x", DType::f32, {2, 5, 4, 3}), kToLast);
        Value* y = nodes(b, x);
        REQUIRE(b.status().ok());
        b.output(back.empty() ? y : transposed(b, y, back), "y");
      },
      "transposes", {random_tensor({2, 5, 4, 3}, 1)});
}

Value* image(Builder& b, Dims dims) { return b.constant(random_tensor(std::move(dims), 7, 0.5, 1.5)); }

Attributes along(int64_t axis) { return make_attributes({{"axis", axis}}); }
Attributes keeping(int64_t keep) { return make_attributes({{"keepdims", keep}}); }

}  // namespace

TEST_CASE("Transposes around operators of one element cancel") {
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Relu", {x}); })) == "Relu");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Clip", {x, scalar(b, -1), scalar(b, 1)}); })) == "Clip");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Add", {b.add("Mul", {x, scalar(b, 2)}), x}); })) == "Mul Add");
  CHECK(ops_of(between([](Builder& b, Value* x) {
          return b.add("Where", {b.add("Greater", {x, image(b, {3, 1})}), x, b.add("Neg", {x})});
        })) == "Greater Neg Where");
  CHECK(ops_of(between([](Builder& b, Value* x) {
          return b.add("Cast", {b.add("Cast", {x}, make_attributes({{"to", int64_t{11}}}))}, make_attributes({{"to", int64_t{1}}}));
        })) == "Cast Cast");
}

TEST_CASE("constants that are broadcast are transposed at load") {
  const Graph after = between([](Builder& b, Value* x) { return b.add("PRelu", {b.add("Add", {x, image(b, {5})}), image(b, {1, 1, 5})}); });
  CHECK(ops_of(after) == "Add PRelu");
  CHECK(node_of(after, "Add").input(1)->type.shape == Shape{1, 5, 1, 1});
  CHECK(node_of(after, "PRelu").input(1)->constant().dims() == Dims{1, 5, 1, 1});
}

TEST_CASE("operators along axes get those of the stored value") {
  const auto joined = [](Builder& b, Value* x) { return b.add("Concat", {x, image(b, {2, 4, 3, 2}), x}, along(-1)); };
  CHECK(node_of(between(joined), "Concat").attributes.get_int("axis") == 1);
  const auto split = [](Builder& b, Value* x) {
    const Node* parts = b.node("", "Split", {x, b.integers({1, 4})}, 2, along(3));
    return b.add("Concat", {parts->output(1), parts->output(0)}, along(3));
  };
  CHECK(ops_of(between(split)) == "Split Concat");
  CHECK(node_of(between([](Builder& b, Value* x) { return b.add("Softmax", {x}); }), "Softmax").attributes.get_int("axis") == 1);
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Hardmax", {x}, along(2)); })) == "Hardmax");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("LogSoftmax", {x}, along(0)); })) == "LogSoftmax");
}

TEST_CASE("Slice and Pad with and without axes") {
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Slice", {x, b.integers({0, 1}), b.integers({2, 3})}); })) == "Slice");
  CHECK(ops_of(between([](Builder& b, Value* x) {
          return b.add("Slice", {x, b.integers({-1, 0}), b.integers({-9, 4}), b.integers({-1, 1}), b.integers({-2, 1})});
        })) == "Slice");
  CHECK(ops_of(between(
            [](Builder& b, Value* x) {
              return b.add("Slice", {x, b.integers({1}), b.integers({9}), nullptr, b.integers({2})});
            },
            {})) == "Slice Transpose");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Pad", {x, b.integers({0, 1, 2, 0, 0, 3, 0, 4}), scalar(b, 7)}); })) == "Pad");
  CHECK(ops_of(between([](Builder& b, Value* x) {
          return b.add("Pad", {x, b.integers({1, 2, 0, 1}), nullptr, b.integers({-2, 3})}, make_attributes({{"mode", std::string("reflect")}}));
        })) == "Pad");
}

TEST_CASE("reductions: what is left keeps its order") {
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("ReduceMean", {x, b.integers({1, 2})}, keeping(1)); })) == "ReduceMean");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("ReduceMean", {x, b.integers({1, -2})}, keeping(0)); }, {})) == "ReduceMean");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("ReduceMax", {x, b.integers({0})}, keeping(0)); }, {2, 0, 1})) == "ReduceMax");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("ReduceSum", {x}, keeping(0)); }, {})) == "ReduceSum");
  CHECK(ops_of(between([](Builder& b, Value* x) {
          return b.add("ReduceSum", {x}, make_attributes({{"keepdims", int64_t{0}}, {"noop_with_empty_axes", int64_t{1}}}));
        })) == "ReduceSum");
  CHECK(ops_of(between(
            [](Builder& b, Value* x) {
              return b.add("ArgMax", {x}, make_attributes({{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}}));
            },
            {})) == "ArgMax");
  CHECK(ops_of(between(
            [](Builder& b, Value* x) {
              return b.add("ArgMin", {x}, make_attributes({{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}));
            },
            {0, 2, 1})) == "ArgMin");
}

TEST_CASE("views, repetitions and sizes") {
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Squeeze", {b.add("Unsqueeze", {x, b.integers({1, -1})}), b.integers({1, 5})}); })) ==
        "Unsqueeze Squeeze");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Unsqueeze", {x, b.integers({0})}); }, {0, 1, 4, 2, 3})) == "Unsqueeze");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Squeeze", {b.add("ReduceMax", {x, b.integers({2})}, keeping(1))}); }, {0, 2, 1})) ==
        "ReduceMax Squeeze");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Tile", {x, b.integers({1, 2, 1, 3})}); })) == "Tile");
  CHECK(ops_of(between([](Builder& b, Value* x) {
          return b.add("Expand", {b.add("ReduceMax", {x, b.integers({1, 3})}, keeping(1)), b.integers({4, 1, 5})});
        })) == "ReduceMax Expand");
  CHECK(
      ops_of(between([](Builder& b, Value* x) {
        return b.add("Resize", {x, nullptr, b.constant(Tensor::of<float>({4}, {1, 2, 1.5f, 1}))}, make_attributes({{"mode", std::string("linear")}}));
      })) == "Resize");
  CHECK(ops_of(between([](Builder& b, Value* x) {
          return b.add("Resize", {x, nullptr, nullptr, b.integers({7, 8})}, make_attributes({{"axes", std::vector<int64_t>{2, 1}}}));
        })) == "Resize");
}

TEST_CASE("quantisation along an axis") {
  for (const int64_t axis : {3, -1, 1}) {
    const auto nodes = [&](Builder& b, Value* x) {
      const int64_t length = axis == 1 ? 4 : 5;
      Value* scale = b.constant(random_tensor({length}, 3, 0.01, 0.05));
      return b.add("DequantizeLinear", {b.add("QuantizeLinear", {x, scale}, along(axis)), scale}, along(axis));
    };
    CHECK(ops_of(between(nodes)) == "QuantizeLinear DequantizeLinear");
  }
}

TEST_CASE("Transposes go where they have less to do, and not where they have more") {
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("ReduceMax", {x, b.integers({0})}, keeping(1)); }, {})) == "ReduceMax Transpose");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Tile", {x, b.integers({1, 2, 1, 1})}); }, {})) == "Transpose Tile");
  CHECK(ops_of(between([](Builder& b, Value* x) { return b.add("Relu", {x}); }, {})) == "Transpose Relu");
  // Half of what is joined would have to be transposed the other way.
  const Describe joined = [](Builder& b) {
    Value *x = b.input("x", DType::f32, {1, 2, 3, 4}), *other = b.input("other", DType::f32, {1, 3, 4, 2});
    b.output(b.add("Concat", {transposed(b, x, kToLast), other}, along(3)), "y");
  };
  CHECK(ops_of(check_pass(joined, "transposes", {random_tensor({1, 2, 3, 4}, 1), random_tensor({1, 3, 4, 2}, 2)})) == "Transpose Concat");
}

TEST_CASE("several users, outputs between, and one Transpose of what is needed both ways") {
  const Describe shared = [](Builder& b) {
    Value* x = transposed(b, b.input("x", DType::f32, {2, 5, 4, 3}), kToLast);
    Value* kept = b.add("Relu", {x});
    b.output(kept, "kept");
    b.output(transposed(b, b.add("Neg", {kept}), kToFirst), "y");
    b.output(transposed(b, b.add("Exp", {x}), kToFirst), "z");
  };
  const Graph after = check_pass(shared, "transposes", {random_tensor({2, 5, 4, 3}, 1)});
  CHECK(ops_of(after) == "Relu Transpose Neg Exp");
  CHECK(node_of(after, "Transpose").output()->name() == "kept");
}

TEST_CASE("Transposes behind one another are one, equal ones are one, and outputs keep their names") {
  const Describe behind = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {2, 5, 4, 3});
    b.output(transposed(b, transposed(b, x, kToLast), kToFirst), "same");
    b.output(transposed(b, transposed(b, x, kToLast), {3, 0, 1, 2}), "y");
    b.output(b.add("Relu", {b.add("Transpose", {b.add("Transpose", {x})})}), "z");
    b.output(b.add("Add", {transposed(b, x, {1, 0, 2, 3}), b.add("Neg", {transposed(b, x, {1, 0, 2, 3})})}), "zero");
  };
  const Graph after = check_pass(behind, "transposes", {random_tensor({2, 5, 4, 3}, 1)});
  CHECK(ops_of(after) == "Transpose Transpose Relu Neg Add");
}

TEST_CASE("a Transpose that a product takes in costs nothing where it is") {
  const Describe product = [](Builder& b) {
    Value* x = transposed(b, b.input("x", DType::f32, {7, 4, 3}), {0, 2, 1});
    b.output(b.add("MatMul", {b.add("Relu", {b.add("Neg", {x})}), image(b, {4, 6})}), "y");
  };
  CHECK(ops_of(check_pass(product, "transposes", {random_tensor({7, 4, 3}, 1)})) == "Neg Relu Transpose MatMul");
}

TEST_CASE("nothing is known of a value: nothing moves") {
  const auto shaped = [](Shape shape) {
    return build([&](Builder& b) {
      Value* x = transposed(b, b.input("x", DType::f32, shape), kToLast);
      b.output(transposed(b, b.add("Relu", {x}), kToFirst), "y");
    });
  };
  for (Shape shape : {Shape(), Shape{Dim("n"), 5, 4, 3}}) {
    Graph graph = shaped(shape);
    run_pass(graph, "transposes");
    CHECK(ops_of(graph) == "Transpose Relu Transpose");
  }
  Graph empty = shaped({0, 5, 4, 3});
  run_pass(empty, "transposes");
  CHECK(evaluated(empty, {random_tensor({0, 5, 4, 3}, 1)})[0].dims() == Dims{0, 5, 4, 3});
}

TEST_CASE("a Transpose that only moves dimensions of 1 is a view") {
  const Describe views = [](Builder& b) {
    b.output(transposed(b, b.input("a", DType::f32, {1, 1, 1, 6}), kToFirst), "y");
    b.output(b.add("Neg", {transposed(b, b.input("b", DType::f32, {3, 1, 4}), {1, 0, 2})}), "z");
    b.output(b.add("Transpose", {b.input("c", DType::f32, {1, 2, 3})}), "moved");
  };
  const std::vector<Tensor> inputs{random_tensor({1, 1, 1, 6}, 1), random_tensor({3, 1, 4}, 2), random_tensor({1, 2, 3}, 3)};
  CHECK(ops_of(check_pass(views, "view_transposes", inputs)) == "Reshape Reshape Neg Transpose");
  Graph empty = build([](Builder& b) { b.output(transposed(b, b.input("a", DType::f32, {0, 1, 3}), {1, 0, 2}), "y"); });
  run_pass(empty, "view_transposes");
  CHECK(ops_of(empty) == "Transpose");
}
}  // namespace transposes_test
