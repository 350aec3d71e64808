// The layout pass: reorders only at the borders of blocked regions. What blocked graphs compute is seen through sessions.
#include <cmath>

#include <algorithm>

#include "engine/graph/verify.h"
#include "tests/passes/pass_test_util.h"

namespace layout_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

Value* conv(Builder& b, Value* x, int64_t from, int64_t to, uint64_t seed) {
  return b.add("Conv", {x, b.constant(random_tensor({to, from, 3, 3}, seed, -0.2, 0.2)), b.constant(random_tensor({to}, seed + 50, 1, 2))},
               make_attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
}

/// The graph after the pass, having checked that a session agrees with node-by-node plain evaluation.
Graph check_layout(const Describe& describe, const std::vector<Tensor>& inputs) {
  const Graph before = build(describe);
  Graph after = build(describe);
  run_pass(after, "layout");
  CHECK(output_names(after) == output_names(before));
  for (const Value* v : after.outputs()) CHECK(v->type.block == 0);
  check_close(session_run(build(describe), inputs), evaluated(before, inputs), "session");
  return after;
}

size_t reorders(const Graph& graph) {
  return static_cast<size_t>(std::count_if(graph.nodes().begin(), graph.nodes().end(),
                                           [](const auto& n) { return n->op().name == std::string_view("Reorder"); }));
}

const std::vector<Tensor> kPicture = {random_tensor({2, 3, 8, 8}, 1)};
const std::vector<Tensor> kFeatures = {random_tensor({2, 18, 8, 8}, 1)};

}  // namespace

TEST_CASE("a network of two branches is reordered once, where it ends") {
  const auto describe = [](Builder& b) {
    Value* stem = b.add("Relu", {conv(b, b.input("x", DType::f32, {2, 3, 8, 8}), 3, 20, 2)});  // reads the image as it is
    Value* left = b.add("Relu", {conv(b, stem, 20, 20, 3)});
    Value* right = b.add("MaxPool", {stem}, make_attributes({{"kernel_shape", std::vector<int64_t>{3, 3}},
                                                             {"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
    Value* both = b.add("Mul", {b.add("Add", {left, right}), scalar(b, 0.5f)});
    b.output(b.add("Flatten", {b.add("GlobalAveragePool", {both})}), "y");
  };
  const Graph after = check_layout(describe, kPicture);
  CHECK(reorders(after) == 1);
  CHECK(ops_of(after) == "Conv Relu Conv Relu MaxPool Add Mul GlobalAveragePool Reorder Flatten");
  CHECK(node_of(after, "GlobalAveragePool").output()->type.block == context().block);
}

TEST_CASE("weights that a convolution computes are read plain") {
  const auto describe = [](Builder& b) {
    Value* made = conv(b, b.input("x", DType::f32, {2, 18, 3, 3}), 18, 16, 2);  // [2, 16, 3, 3]
    Value* y = b.add("Conv", {b.input("z", DType::f32, {1, 16, 9, 9}), made});
    b.output(b.add("Relu", {y}), "y");
    b.output(b.add("ConvTranspose", {b.input("t", DType::f32, {1, 2, 3, 3}), made}), "u");
  };
  const Graph after = check_layout(describe, {random_tensor({2, 18, 3, 3}, 1), random_tensor({1, 16, 9, 9}, 2), random_tensor({1, 2, 3, 3}, 3)});
  CHECK(node_of(after, "ConvTranspose").input(1)->type.block == 0);
  for (const auto& node : after.nodes())
    if (node->op().name == std::string_view("Conv")) CHECK(node->input(1)->type.block == 0);
  Graph wrong = build(describe);
  node_of(wrong, "ConvTranspose").input(1)->type.block = context().block;
  const Status status = verify(wrong);
  REQUIRE_FALSE(status.ok());
  CHECK_THAT(status.error().message(), Catch::Matchers::Contains("is blocked, and the operator reads it plain"));
}

TEST_CASE("a plain value that two convolutions read is reordered once") {
  const auto describe = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {2, 18, 8, 8});
    b.output(b.add("Add", {conv(b, x, 18, 18, 2), conv(b, x, 18, 18, 3)}), "y");
  };
  const Graph after = check_layout(describe, kFeatures);
  CHECK(ops_of(after) == "Reorder Conv Conv Add Reorder");
}

TEST_CASE("an output in the middle of a blocked region is plain and keeps its name") {
  const auto describe = [](Builder& b) {
    Value* middle = b.add("Relu", {conv(b, b.input("x", DType::f32, {2, 3, 8, 8}), 3, 20, 2)});
    b.output(middle, "middle");
    b.output(b.add("Flatten", {middle}), "flat");
    b.output(conv(b, middle, 20, 20, 3), "end");
  };
  const Graph after = check_layout(describe, kPicture);
  CHECK(reorders(after) == 2);  // one serves the output and Flatten, the other the last convolution
  CHECK(node_of(after, "Flatten").input(0) == after.outputs()[0]);
}

TEST_CASE("a value that is an output twice is the same plain value twice") {
  Graph graph = build([](Builder& b) {
    Value* y = conv(b, b.input("x", DType::f32, {2, 3, 8, 8}), 3, 20, 2);
    b.output(y, "y");
    b.output(y);
  });
  run_pass(graph, "layout");
  CHECK(output_names(graph) == std::vector<std::string>{"y", "y"});
  CHECK(reorders(graph) == 1);
}

TEST_CASE("a plain operator in between is reordered for, and one by one element follows whatever it gets") {
  const auto describe = [](Builder& b) {
    Value* y = conv(b, b.input("x", DType::f32, {2, 18, 8, 8}), 18, 18, 2);
    Value* turned = b.add("Transpose", {y}, make_attributes({{"perm", std::vector<int64_t>{0, 1, 3, 2}}}));
    b.output(conv(b, b.add("Relu", {turned}), 18, 18, 3), "y");
  };
  CHECK(ops_of(check_layout(describe, kFeatures)) == "Reorder Conv Reorder Transpose Relu Reorder Conv Reorder");
}

TEST_CASE("padding lanes do not reach results") {
  const auto quotient = [](Builder& b) {  // 0 / 0 in the padding lanes, if it were computed there
    Value* x = b.input("x", DType::f32, {2, 18, 8, 8});
    Value* below = b.add("Exp", {conv(b, x, 18, 18, 3)});
    b.output(conv(b, b.add("Div", {conv(b, x, 18, 18, 2), b.add("Mul", {below, below})}), 18, 18, 4), "y");
  };
  check_layout(quotient, kFeatures);
  const auto bare = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {2, 18, 8, 8});
    Value* below = b.add("Add", {b.add("Abs", {conv(b, x, 18, 18, 3)}), b.add("Abs", {x})});
    b.output(conv(b, b.add("Div", {conv(b, x, 18, 18, 2), b.add("Max", {below, scalar(b, 1.0f)})}), 18, 18, 4), "y");
    Value* sum = b.add("Relu", {conv(b, x, 18, 18, 5)});
    Value* steps = b.add("Sum", {b.add("Sqrt", {sum}), b.add("Sqrt", {sum})});
    b.output(conv(b, b.add("Div", {steps, b.add("Neg", {conv(b, b.add("Mul", {x, scalar(b, 0.01f)}), 18, 18, 6)})}), 18,
                  18, 7), "z");
  };
  check_layout(bare, kFeatures);
}

TEST_CASE("volumes are blocked as images are") {
  using Ints = std::vector<int64_t>;
  const auto volume_conv = [](Builder& b, Value* x, int64_t from, int64_t to, uint64_t seed) {
    const double range = 1 / std::sqrt(27.0 * static_cast<double>(from));  // so that sums stay near 1, beside which they are compared
    return b.add("Conv", {x, b.constant(random_tensor({to, from, 3, 3, 3}, seed, -range, range)), b.constant(random_tensor({to}, seed + 50, 1, 2))},
                 make_attributes({{"pads", Ints{1, 1, 1, 1, 1, 1}}}));
  };
  const auto describe = [&](Builder& b) {
    Value* x = volume_conv(b, b.input("x", DType::f32, {2, 3, 4, 5, 6}), 3, 16, 2);
    Value* left = b.add("Mul", {b.add("Relu", {x}), scalar(b, 0.5f)});
    Value* right = b.add("MaxPool", {volume_conv(b, x, 16, 18, 3)},
                         make_attributes({{"kernel_shape", Ints{3, 2, 3}}, {"pads", Ints{1, 0, 1, 1, 1, 1}}}));
    Value* norm = b.add("BatchNormalization", {right, b.constant(random_tensor({18}, 4)), b.constant(random_tensor({18}, 5)),
                                               b.constant(random_tensor({18}, 6)), b.constant(random_tensor({18}, 7, 1, 2))});
    Value* both = b.add("Concat", {left, norm}, make_attributes({{"axis", int64_t{1}}}));
    b.output(b.add("GlobalAveragePool", {both}), "mean");
    b.output(b.add("Add", {volume_conv(b, both, 34, 16, 9), left}), "y");
  };
  const Graph after = check_layout(describe, {random_tensor({2, 3, 4, 5, 6}, 1)});
  INFO(ops_of(after));
  CHECK(reorders(after) == 2);  // of the two results
  CHECK(node_of(after, "Concat").output()->type.block == context().block);
}

TEST_CASE("signals are blocked where what is computed is worth the reorders") {
  using Ints = std::vector<int64_t>;
  const auto signal_conv = [](Builder& b, Value* x, const Dims& weights, int64_t group, uint64_t seed) {
    return b.add("Conv", {x, b.constant(random_tensor(weights, seed, -0.1, 0.1)), b.constant(random_tensor({weights[0]}, seed + 50, 1, 2))},
                 make_attributes({{"group", group}, {"pads", Ints{weights[2] / 2, weights[2] / 2}}}));
  };
  const auto describe = [&](Builder& b) {
    Value* x = signal_conv(b, b.input("x", DType::f32, {2, 96, 19}), {32, 96, 3}, 1, 2);
    Value* pooled = b.add("MaxPool", {b.add("Relu", {x})}, make_attributes({{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}}));
    Value* norm = b.add("BatchNormalization", {pooled, b.constant(random_tensor({32}, 4)), b.constant(random_tensor({32}, 5)),
                                               b.constant(random_tensor({32}, 6)), b.constant(random_tensor({32}, 7, 1, 2))});
    Value* both = b.add("Concat", {norm, signal_conv(b, norm, {32, 1, 5}, 32, 8)}, make_attributes({{"axis", int64_t{1}}}));
    b.output(b.add("GlobalAveragePool", {both}), "mean");
    b.output(signal_conv(b, both, {7, 64, 1}, 1, 9), "y");  // a small one, where the signal is blocked already
  };
  const Graph after = check_layout(describe, {random_tensor({2, 96, 19}, 1)});
  INFO(ops_of(after));
  CHECK(reorders(after) == 3);  // of what comes in and of the two results
  const auto small = [&](Builder& b) { b.output(signal_conv(b, b.input("x", DType::f32, {2, 24, 19}), {16, 24, 3}, 1, 2), "y"); };
  CHECK(reorders(check_layout(small, {random_tensor({2, 24, 19}, 1)})) == 0);
}

TEST_CASE("pieces of channels stay blocked where they are whole blocks, as in the gradient of Concat") {
  const auto pieces = [](const std::vector<int64_t>& sizes) -> Describe {
    return [=](Builder& b) {
      Value* y = conv(b, b.input("x", DType::f32, {2, 18, 8, 8}), 18, 55, 2);
      Value* list = b.constant(Tensor::of<int64_t>({3}, std::span<const int64_t>(sizes)));
      const Node* split = b.node("", "Split", {y, list}, 3, make_attributes({{"axis", int64_t{1}}}));
      for (size_t i = 0; split && i < 3; ++i) {
        Value* piece = split->output(i);
        const int64_t channels = piece->type.shape[1].value();
        b.output(conv(b, b.add("Relu", {piece}), channels, 16, 3 + i), fmt::format("y{}", i));
      }
    };
  };
  const Graph whole = check_layout(pieces({16, 32, 7}), kFeatures);
  CHECK(reorders(whole) == 4);  // of the input and of the three results
  CHECK(node_of(whole, "Split").output(2)->type.block == context().block);
  const Graph broken = check_layout(pieces({15, 33, 7}), kFeatures);
  CHECK(node_of(broken, "Split").output(0)->type.block == 0);
}

TEST_CASE("comparisons leave the blocked region") {
  const auto describe = [](Builder& b) {
    Value* y = conv(b, b.input("x", DType::f32, {2, 3, 8, 8}), 3, 20, 2);
    Value* mask = b.add("Greater", {y, scalar(b, 0.5f)});
    b.output(b.add("Where", {mask, y, b.add("Neg", {y})}), "y");
  };
  check_layout(describe, kPicture);
}

TEST_CASE("a kernel set without blocks keeps everything plain") {
  Graph graph = build([](Builder& b) { b.output(conv(b, b.input("x", DType::f32, {2, 18, 8, 8}), 18, 18, 2), "y"); });
  PassContext plain = context();
  plain.block = 0;
  run_pass(graph, "layout", plain);
  CHECK(ops_of(graph) == "Conv");
}

TEST_CASE("the positions of maxima keep a pooling plain, whether a node or only the caller reads them") {
  for (const bool read : {false, true}) {
    const auto describe = [read](Builder& b) {
      Value* x = conv(b, b.input("x", DType::f32, {2, 18, 8, 8}), 18, 18, 2);
      const Node* pool = b.node("", "MaxPool", {x}, 2, make_attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}}));
      b.output(pool->output(0), "y");
      b.output(read ? b.add("Neg", {pool->output(1)}) : pool->output(1), "at");
    };
    const Graph after = check_layout(describe, kFeatures);
    CHECK(node_of(after, "MaxPool").output()->type.block == 0);
  }
  const auto values_only = [](Builder& b) {
    Value* x = conv(b, b.input("x", DType::f32, {2, 18, 8, 8}), 18, 18, 2);
    b.output(b.node("", "MaxPool", {x}, 2, make_attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}}))->output(), "y");
  };
  CHECK(node_of(check_layout(values_only, kFeatures), "MaxPool").output()->type.block == context().block);
}

TEST_CASE("windows that reach over the end of small blocked images") {
  using Ints = std::vector<int64_t>;
  for (const char* op : {"MaxPool", "AveragePool"})
    for (int64_t size = 2; size <= 5; ++size)
      for (int64_t kernel = 2; kernel <= 4; ++kernel)
        for (int64_t stride = 2; stride <= 3; ++stride)
          for (int64_t counting = 0; counting <= 1; ++counting) {
            if (kernel - size >= stride) continue;  // no window fits
            INFO(op << " of " << size << " by " << kernel << ", stride " << stride << ", counting padding " << counting);
            const auto describe = [&](Builder& b) {
              Attributes attributes = make_attributes({{"kernel_shape", Ints{kernel, kernel}}, {"strides", Ints{stride, stride}},
                                                       {"ceil_mode", int64_t{1}}, {"pads", Ints{0, 1, 0, 0}}});
              if (op == std::string_view("AveragePool")) attributes.set("count_include_pad", counting);
              Value* x = conv(b, b.input("x", DType::f32, {1, 18, size, size}), 18, 18, 2);
              b.output(b.add(op, {x}, attributes), "y");
            };
            const Graph after = check_layout(describe, {random_tensor({1, 18, size, size}, 1)});
            CHECK(node_of(after, op).output()->type.block == context().block);
          }
}

TEST_CASE("Transposes beside reorders are reorders from and to channels last") {
  const Describe norm_between = [](Builder& b) {
    Value* x = conv(b, b.input("x", DType::f32, {2, 18, 8, 8}), 18, 37, 1);
    Value* last = b.add("Transpose", {x}, make_attributes({{"perm", std::vector<int64_t>{0, 2, 3, 1}}}));
    Value* y = b.add("LayerNormalization", {last, b.constant(random_tensor({37}, 5)), b.constant(random_tensor({37}, 6))});
    Value* first = b.add("Transpose", {y}, make_attributes({{"perm", std::vector<int64_t>{0, 3, 1, 2}}}));
    b.output(conv(b, first, 37, 20, 2), "y");
    b.output(last, "last");
  };
  Graph after = check_layout(norm_between, kFeatures);
  run_pass(after, "reorder_transposes");
  CHECK(std::none_of(after.nodes().begin(), after.nodes().end(), [](const auto& n) { return n->op().name == std::string_view("Transpose"); }));
  CHECK(reorders(after) == 4);
  CHECK(output_names(after) == std::vector<std::string>{"y", "last"});
  const Describe other_order = [](Builder& b) {
    Value* x = conv(b, b.input("x", DType::f32, {2, 18, 8, 8}), 18, 20, 1);
    b.output(b.add("Transpose", {x}, make_attributes({{"perm", std::vector<int64_t>{0, 3, 2, 1}}})), "y");
    b.output(x, "x");
  };
  Graph kept = check_layout(other_order, kFeatures);
  run_pass(kept, "reorder_transposes");
  CHECK(node_of(kept, "Transpose").op().name == std::string_view("Transpose"));
}
}  // namespace layout_test
