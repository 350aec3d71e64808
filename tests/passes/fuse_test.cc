// Passes that put a node's neighbours into its padding, epilogue or weights: pad, conv_norm, conv, mat_mul.
#include "tests/passes/pass_test_util.h"

namespace fuse_test {
using namespace svengine;
using namespace svengine::tests;
namespace {
const Shape kImage{2, 18, 5, 6};
const std::vector<Tensor> kPixels = {random_tensor({2, 18, 5, 6}, 1)};

Value* image(Builder& b) { return b.input("x", DType::f32, kImage); }

Value* conv(Builder& b, Value* x, uint64_t seed, bool bias = true) {
  std::vector<Value*> inputs = {x, b.constant(random_tensor({18, 18, 3, 3}, seed, -0.2, 0.2))};
  if (bias) inputs.push_back(b.constant(random_tensor({18}, seed + 100)));
  return b.add("Conv", inputs, make_attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), fmt::format("conv{}", seed));
}

Value* norm(Builder& b, Value* x) {
  const auto row = [&](uint64_t seed, double low) { return b.constant(random_tensor({18}, seed, low, 2)); };
  return b.add("BatchNormalization", {x, row(7, -2), row(8, -2), row(9, -2), row(10, 0.5)});
}

Value* weights(Builder& b, Dims dims, uint64_t seed = 3) { return b.constant(random_tensor(std::move(dims), seed)); }

Value* pad(Builder& b, Value* x, std::initializer_list<int64_t> widths, const char* mode = "constant", float value = 0) {
  return b.add("Pad", {x, b.integers(widths), scalar(b, value)}, make_attributes({{"mode", std::string(mode)}}));
}

Value* average(Builder& b, Value* x, Attributes attributes = {}) {
  attributes.set("kernel_shape", std::vector<int64_t>{3, 3});
  return b.add("AveragePool", {x}, std::move(attributes));
}

}  // namespace

TEST_CASE("zeros around an image become padding of the convolution or average that reads it") {
  const std::initializer_list<int64_t> widths = {0, 0, 1, 2, 0, 0, 2, 1};
  const Graph pooled = check_pass([&](Builder& b) { b.output(average(b, pad(b, image(b), widths)), "y"); }, "pad", kPixels);
  CHECK(ops_of(pooled) == "AveragePool");
  CHECK(node_of(pooled, "AveragePool").attributes.get_ints("pads") == std::vector<int64_t>{1, 2, 2, 1});
  CHECK(node_of(pooled, "AveragePool").attributes.get_int("count_include_pad") == 1);
  const Graph of_axes = check_pass(
      [&](Builder& b) {
        b.output(average(b, b.add("Pad", {image(b), b.integers({1, 2, 3, 4}), nullptr, b.integers({-1, 2})})), "y");
      },
      "pad", kPixels);
  CHECK(ops_of(of_axes) == "AveragePool");
  CHECK(node_of(of_axes, "AveragePool").attributes.get_ints("pads") == std::vector<int64_t>{2, 1, 4, 3});
  const Graph both = check_pass(
      [&](Builder& b) {
        Value* padded = pad(b, image(b), widths);
        b.output(conv(b, padded, 2), "y");  // has pads of its own
        b.output(b.add("Conv", {padded, weights(b, {4, 18, 2, 2})}, make_attributes({{"auto_pad", std::string("VALID")}})), "z");
      },
      "pad", kPixels);
  CHECK(ops_of(both) == "Conv Conv");
  CHECK(node_of(both, "Conv").attributes.get_ints("pads") == std::vector<int64_t>{2, 3, 3, 2});
}

TEST_CASE("padding stays where the window would not mean the same") {
  const std::initializer_list<int64_t> ones = {0, 0, 1, 1, 0, 0, 1, 1};
  const std::vector<int64_t> around = {1, 1, 1, 1}, two = {2, 2};
  const auto stays = [&](const Describe& describe) {
    const std::string ops = ops_of(check_pass(describe, "pad", kPixels));
    CHECK(ops.starts_with("Pad "));
  };
  stays([&](Builder& b) { b.output(average(b, pad(b, image(b), ones, "constant", 1)), "y"); });
  stays([&](Builder& b) { b.output(average(b, pad(b, image(b), ones, "edge")), "y"); });
  stays([&](Builder& b) { b.output(average(b, pad(b, image(b), {0, 0, -1, 1, 0, 0, 1, 1})), "y"); });
  stays([&](Builder& b) { b.output(average(b, pad(b, image(b), {0, 1, 1, 1, 0, 1, 1, 1})), "y"); });
  const Attributes own = make_attributes({{"pads", around}}), same = make_attributes({{"auto_pad", std::string("SAME_UPPER")}});
  const Attributes up = make_attributes({{"ceil_mode", int64_t{1}}, {"strides", two}});
  for (const Attributes& attributes : {own, same, up})
    stays([&](Builder& b) { b.output(average(b, pad(b, image(b), ones), attributes), "y"); });
  stays([&](Builder& b) {
    b.output(b.add("MaxPool", {pad(b, image(b), ones)}, make_attributes({{"kernel_shape", std::vector<int64_t>{3, 3}}})), "y");
  });
  stays([&](Builder& b) {
    Value* padded = pad(b, image(b), ones);
    b.output(padded, "x2");
    b.output(average(b, padded), "y");
  });
}

TEST_CASE("batch normalisation disappears into the convolution") {
  for (bool bias : {true, false}) {
    const Graph after = check_pass([&](Builder& b) { b.output(norm(b, conv(b, image(b), 2, bias)), "y"); }, "conv_norm", kPixels);
    CHECK(ops_of(after) == "FusedConv");
    CHECK(node_of(after, "FusedConv").input(2)->constant().dims() == Dims{18});
    CHECK(node_of(after, "FusedConv").input(4)->constant().dims() == Dims{18});
    CHECK(node_of(after, "FusedConv").output()->name() == "y");
  }
}

TEST_CASE("a constant for each channel that is added to a convolution is its bias") {
  for (bool bias : {true, false})
    for (const Dims& dims : {Dims{1, 18, 1, 1}, Dims{18, 1, 1}, Dims{}, Dims{1}}) {
      const Graph after = check_pass(
          [&](Builder& b) { b.output(b.add("Add", {b.constant(random_tensor(dims, 5)), conv(b, image(b), 2, bias)}), "y"); },
          "conv_bias", kPixels);
      CHECK(ops_of(after) == "Conv");
      CHECK(node_of(after, "Conv").input(2)->constant().dims() == Dims{18});
    }
}

TEST_CASE("a constant that differs within a channel, or a result with another user, is no bias") {
  for (const Dims& dims : {Dims{1, 18, 1, 6}, Dims{6}, Dims{2, 1, 1, 1}, Dims{5, 1}})
    CHECK(ops_of(check_pass([&](Builder& b) { b.output(b.add("Add", {conv(b, image(b), 2), b.constant(random_tensor(dims, 5))}), "y"); },
                            "conv_bias", kPixels)) == "Conv Add");
  const auto shared = [](Builder& b) {
    Value* y = conv(b, image(b), 2);
    b.output(b.add("Add", {y, b.constant(random_tensor({1, 18, 1, 1}, 5))}), "y");
    b.output(b.add("Relu", {y}), "z");
  };
  CHECK(ops_of(check_pass(shared, "conv_bias", kPixels)) == "Conv Add Relu");
}

TEST_CASE("weights that another convolution shares are not changed for it") {
  const Graph after = check_pass(
      [](Builder& b) {
        Value *x = image(b), *w = weights(b, {18, 18, 1, 1});
        b.output(norm(b, b.add("Conv", {x, w})), "y");
        b.output(b.add("Conv", {x, w}), "z");
      },
      "conv_norm", kPixels);
  CHECK(ops_of(after) == "FusedConv Conv");
}

TEST_CASE("a second batch normalisation disappears too, and an epilogue keeps the scale") {
  const Graph two = check_pass([](Builder& b) {
    b.output(norm(b, norm(b, conv(b, image(b), 2, true))), "y");
  }, "conv_norm", kPixels);
  CHECK(ops_of(two) == "FusedConv");
  const auto shortcut = [](Builder& b) {
    Value *x = image(b), *beside = conv(b, x, 2);
    b.output(b.add("Relu", {b.add("Add", {norm(b, conv(b, x, 2)), beside})}), "y");
  };
  const Graph before = build(shortcut);
  Graph after = build(shortcut);
  run_pass(after, "conv_norm");
  run_pass(after, "conv");
  CHECK(ops_of(after) == "Conv FusedConv");
  CHECK(node_of(after, "FusedConv").input(4)->constant().dims() == Dims{18});
  check_close(evaluated(after, kPixels), evaluated(before, kPixels), "after both passes");
}

TEST_CASE("batch normalisation without a convolution becomes a scale and a shift with the activation") {
  const auto pre = [](Builder& b) { b.output(b.add("Relu", {norm(b, image(b))}), "y"); };
  const Graph after = check_pass(pre, "norm", kPixels);
  CHECK(ops_of(after) == "ChannelAffine");
  CHECK(node_of(after, "ChannelAffine").attributes.get_string("activation") == "relu");
  const auto training = [](Builder& b) {
    b.output(norm(b, image(b)), "y");
    b.graph().nodes().back()->attributes.set("training_mode", int64_t{1});
  };
  CHECK(ops_of(check_pass(training, "norm", kPixels)) == "BatchNormalization");
}

TEST_CASE("batch normalisation of rank 1, which has one channel, becomes a scale and a shift") {
  const auto row = [](Builder& b) {
    std::vector<Value*> inputs = {b.input("x", DType::f32, Shape{4})};
    for (uint64_t seed = 7; seed < 11; ++seed) inputs.push_back(b.constant(random_tensor({1}, seed, 0.5, 2)));
    b.output(b.add("BatchNormalization", inputs), "y");
  };
  CHECK(ops_of(check_pass(row, "norm", {random_tensor({4}, 1)})) == "ChannelAffine");
}

TEST_CASE("batch normalisation stays when it trains or the convolution has another user") {
  const auto shared = [](Builder& b) {
    Value* y = conv(b, image(b), 2);
    b.output(norm(b, y), "y");
    b.output(b.add("Relu", {y}), "z");
  };
  CHECK(ops_of(check_pass(shared, "conv_norm", kPixels)) == "Conv BatchNormalization Relu");
  const auto training = [](Builder& b) {
    b.output(norm(b, conv(b, image(b), 2)), "y");
    b.graph().nodes().back()->attributes.set("training_mode", int64_t{1});
  };
  CHECK(ops_of(check_pass(training, "conv_norm", kPixels)) == "Conv BatchNormalization");
}

TEST_CASE("a convolution takes its residual and its activation, also a residual made later") {
  const auto residual = [](bool later) {
    return [later](Builder& b) {
      Value* x = image(b);
      Value* early = later ? nullptr : b.add("Sigmoid", {x});
      Value* y = conv(b, x, 2);
      Value* other = later ? b.add("Sigmoid", {x}) : early;
      b.output(b.add("LeakyRelu", {b.add("Add", {other, y})}, make_attributes({{"alpha", 0.3f}})), "y");
    };
  };
  for (bool later : {false, true}) {
    const Graph after = check_pass(residual(later), "conv", kPixels);
    CHECK(ops_of(after) == "Sigmoid FusedConv");
    const Node& fused = node_of(after, "FusedConv");
    CHECK(fused.input(3) == node_of(after, "Sigmoid").output());
    CHECK(fused.attributes.get_string("activation") == "leaky_relu");
    CHECK(fused.attributes.get_float("activation_alpha") == 0.3f);
    CHECK(fused.output()->name() == "y");
  }
}

TEST_CASE("of two convolutions that are added, the later takes the other") {
  const auto describe = [](Builder& b) {
    Value *x = image(b), *first = conv(b, x, 2), *second = conv(b, x, 3, false);
    b.output(b.add("Relu", {b.add("Add", {first, second})}), "y");
  };
  const Graph after = check_pass(describe, "conv", kPixels);
  CHECK(ops_of(after) == "Conv FusedConv");
  const Node& fused = node_of(after, "FusedConv");
  CHECK(fused.name() == "conv3");
  CHECK_FALSE(fused.input(2));
  CHECK(fused.input(3) == node_of(after, "Conv").output());
  CHECK(fused.attributes.get_string("activation") == "relu");
}

TEST_CASE("every convolution of a chain takes its activation") {
  const auto describe = [](Builder& b) {
    Value* y = b.add("Relu", {conv(b, image(b), 2)});
    Value* z = b.add("Clip", {conv(b, y, 3), scalar(b, 0.0f), scalar(b, 6.0f)});
    b.output(b.add("Add", {z, y}), "y");  // after an activation: not taken
  };
  CHECK(ops_of(check_pass(describe, "conv", kPixels)) == "FusedConv FusedConv Add");
}

TEST_CASE("a convolution keeps to itself where its result is seen, or shapes broadcast") {
  const auto two_users = [](Builder& b) {
    Value *x = image(b), *y = conv(b, x, 2);
    b.output(b.add("Add", {y, x}), "y");
    b.output(b.add("Relu", {y}), "z");
  };
  CHECK(ops_of(check_pass(two_users, "conv", kPixels)) == "Conv Add Relu");
  const auto output = [](Builder& b) {
    Value* y = conv(b, image(b), 2);
    b.output(y, "y");
    b.output(b.add("Relu", {y}), "z");
  };
  CHECK(ops_of(check_pass(output, "conv", kPixels)) == "Conv Relu");
  const auto doubled = [](Builder& b) {
    Value* y = conv(b, image(b), 2);
    b.output(b.add("Add", {y, y}), "y");
  };
  CHECK(ops_of(check_pass(doubled, "conv", kPixels)) == "Conv Add");
  const auto broadcast = [](Builder& b) {
    Value* x = image(b);
    b.output(b.add("Add", {conv(b, x, 2), b.add("GlobalAveragePool", {x})}), "y");
  };
  CHECK(ops_of(check_pass(broadcast, "conv", kPixels)) == "Conv GlobalAveragePool Add");
}

TEST_CASE("Gemm with a bias becomes a product with an epilogue") {
  const auto describe = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {5, 12});
    Value* y = b.add("Gemm", {x, weights(b, {20, 12}), weights(b, {1, 20}, 4)},
                     make_attributes({{"transB", int64_t{1}}, {"alpha", 0.5f}}));
    b.output(b.add("Relu", {y}), "y");
  };
  const Graph after = check_pass(describe, "mat_mul", {random_tensor({5, 12}, 1)});
  CHECK(ops_of(after) == "FusedMatMul");
  const Node& fused = node_of(after, "FusedMatMul");
  CHECK(fused.attributes.get_int("transpose_b") == 1);
  CHECK(fused.attributes.get_float("alpha") == 0.5f);
  CHECK(fused.attributes.get_string("activation") == "relu");
  CHECK(fused.input(2)->constant().dims() == Dims{20});
}

TEST_CASE("a Gemm whose addend is no bias stays") {
  for (const Dims& addend : {Dims{5, 20}, Dims{5, 1}, Dims{1}}) {
    const auto describe = [&](Builder& b) {
      b.output(b.add("Gemm", {b.input("x", DType::f32, {5, 12}), weights(b, {12, 20}), weights(b, addend, 4)}), "y");
    };
    CHECK(ops_of(check_pass(describe, "mat_mul", {random_tensor({5, 12}, 1)})) == "Gemm");
  }
  const auto scaled = [](Builder& b) {
    b.output(b.add("Gemm", {b.input("x", DType::f32, {5, 12}), weights(b, {12, 20}), weights(b, {20}, 4)},
                   make_attributes({{"beta", 2.0f}})), "y");
  };
  CHECK(ops_of(check_pass(scaled, "mat_mul", {random_tensor({5, 12}, 1)})) == "Gemm");
}

TEST_CASE("MatMul takes bias and Gelu, or bias and a residual made later") {
  const std::vector<Tensor> x = {random_tensor({2, 5, 12}, 1)};
  const auto gelu = [](Builder& b) {
    Value* y = b.add("MatMul", {b.input("x", DType::f32, {2, 5, 12}), weights(b, {12, 20})});
    b.output(b.add("Gelu", {b.add("Add", {weights(b, {20}, 4), y})}), "y");
  };
  Graph after = check_pass(gelu, "mat_mul", x);
  CHECK(ops_of(after) == "FusedMatMul");
  CHECK(node_of(after, "FusedMatMul").attributes.get_string("activation") == "gelu");
  const auto residual = [](Builder& b) {
    Value* v = b.input("x", DType::f32, {2, 5, 12});
    Value* y = b.add("Add", {b.add("MatMul", {v, weights(b, {12, 12})}), weights(b, {12}, 4)});
    b.output(b.add("Add", {b.add("Sigmoid", {v}), y}), "y");
  };
  after = check_pass(residual, "mat_mul", x);
  CHECK(ops_of(after) == "Sigmoid FusedMatMul");
  CHECK(node_of(after, "FusedMatMul").input(3) == node_of(after, "Sigmoid").output());
  const auto chain = [](Builder& b) {
    Value* y = b.add("Relu", {b.add("MatMul", {b.input("x", DType::f32, {2, 5, 12}), weights(b, {12, 12})})});
    b.output(b.add("Add", {b.add("MatMul", {y, weights(b, {12, 12}, 4)}), y}), "y");
  };
  CHECK(ops_of(check_pass(chain, "mat_mul", x)) == "FusedMatMul FusedMatMul");
}

TEST_CASE("addends that change the shape, or are added to rows, stay outside the product") {
  const auto raised = [](Builder& b) {
    b.output(b.add("Add", {b.add("MatMul", {b.input("x", DType::f32, {5, 12}), weights(b, {12, 20})}),
                           weights(b, {1, 1, 20}, 4)}), "y");
  };
  CHECK(ops_of(check_pass(raised, "mat_mul", {random_tensor({5, 12}, 1)})) == "MatMul Add");
  const auto vector = [](Builder& b) {
    b.output(b.add("Add", {b.add("MatMul", {b.input("x", DType::f32, {3, 5, 12}), weights(b, {12})}), weights(b, {5}, 4)}), "y");
  };
  CHECK(ops_of(check_pass(vector, "mat_mul", {random_tensor({3, 5, 12}, 1)})) == "MatMul Add");
  const auto broadcast = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {5, 12});
    Value* mean = b.add("ReduceMean", {x, b.integers({1})});
    b.output(b.add("Add", {b.add("MatMul", {x, weights(b, {12, 20})}), mean}), "y");
  };
  CHECK(ops_of(check_pass(broadcast, "mat_mul", {random_tensor({5, 12}, 1)})) == "ReduceMean MatMul Add");
}

TEST_CASE("products read transposed operands instead of transposing them") {
  const auto swap = [](Builder& b, Value* v) {
    return b.add("Transpose", {v}, make_attributes({{"perm", std::vector<int64_t>{0, 2, 1}}}));
  };
  const std::vector<Tensor> data = {random_tensor({2, 5, 7}, 1), random_tensor({2, 5, 9}, 2)};
  const Graph after = check_pass(
      [&](Builder& b) {
        Value *x = b.input("x", DType::f32, {2, 5, 7}), *z = b.input("z", DType::f32, {2, 5, 9});
        b.output(b.add("MatMul", {swap(b, x), z}), "y");
        b.output(b.add("MatMul", {x, b.add("Transpose", {weights(b, {9, 7})})}), "w");
      },
      "mat_mul", data);
  const Node& product = node_of(after, "FusedMatMul");
  CHECK((product.attributes.get_int("transpose_a") == 1 && product.attributes.get_int("transpose_b") == 0));
  CHECK(product.input(0)->is_input());
}

TEST_CASE("a transposed product of matrices is the product of the transposed ones") {
  const std::vector<Tensor> data = {random_tensor({7, 5}, 1), random_tensor({7, 9}, 2)};
  const Graph after = check_pass(
      [](Builder& b) {
        Value *x = b.input("x", DType::f32, {7, 5}), *z = b.input("z", DType::f32, {7, 9});
        b.output(b.add("Transpose", {b.add("MatMul", {b.add("Transpose", {x}), z})}), "y");
      },
      "mat_mul", data);
  const Node& product = node_of(after, "FusedMatMul");
  CHECK((product.attributes.get_int("transpose_a") == 1 && product.attributes.get_int("transpose_b") == 0));
  CHECK(to_string(product.output()->type) == "float32[9x5]");
}

TEST_CASE("a bias that is computed goes into the product too, one that adds a dimension does not") {
  const std::vector<Tensor> data = {random_tensor({5, 7}, 1), random_tensor({9}, 2), random_tensor({1, 5, 9}, 3)};
  const Graph after = check_pass(
      [](Builder& b) {
        Value *x = b.input("x", DType::f32, {5, 7}), *bias = b.input("b", DType::f32, {9}),
              *more = b.input("m", DType::f32, {1, 5, 9});
        b.output(b.add("Add", {b.add("MatMul", {x, weights(b, {7, 9})}), bias}), "y");
        b.output(b.add("Add", {b.add("MatMul", {x, weights(b, {7, 9}, 4)}), more}), "z");
      },
      "mat_mul", data);
  CHECK(ops_of(after) == "FusedMatMul MatMul Add");
}

namespace {

/// Sums over all rows of dy beside the product of weights' gradients, which has dy on the left or on the right.
Describe bias_gradient(bool left, bool behind = true) {
  return [=](Builder& b) {
    Value *x = b.input("x", DType::f32, {3, 50, 7}), *dy = b.input("dy", DType::f32, {3, 50, 9});
    const auto rows = [&](Value* v) { return b.add("Flatten", {v}, make_attributes({{"axis", int64_t{2}}})); };
    const auto internal = [&](const char* op, std::vector<Value*> inputs, const char* attribute, Attribute value) {
      Node* node = b.node(kInternalDomain, op, std::move(inputs), 1, make_attributes({{attribute, std::move(value)}}));
      return node->output();
    };
    Value* early = behind ? nullptr : internal("SumTo", {dy}, "shape", std::vector<int64_t>{9});
    if (early) b.output(b.add("Neg", {early}), "negative");
    std::vector<Value*> operands = {rows(x), rows(dy)};
    if (left) std::swap(operands[0], operands[1]);
    b.output(internal("FusedMatMul", operands, "transpose_a", int64_t{1}), "dw");
    b.output(early ? early : internal("SumTo", {dy}, "shape", std::vector<int64_t>{9}), "db");
  };
}

}  // namespace

TEST_CASE("the product of a weights' gradient gives the bias's, too") {
  const std::vector<Tensor> data = {random_tensor({3, 50, 7}, 1), random_tensor({3, 50, 9}, 2)};
  for (const bool left : {false, true}) {
    const Graph after = check_pass(bias_gradient(left), "bias_grad", data);
    CHECK(ops_of(after) == "Flatten Flatten FusedMatMul");
    CHECK(node_of(after, "FusedMatMul").attributes.get_int("sum_of") == (left ? 1 : 2));
  }
  // Somebody reads the sums before the product is there.
  CHECK(ops_of(check_pass(bias_gradient(false, false), "bias_grad", data)) == "SumTo Neg Flatten Flatten FusedMatMul");
}
}  // namespace fuse_test
