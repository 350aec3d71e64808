// Constants behind convolutions that passes conv_bias and conv_norm put into these.
#include "tests/passes/pass_test_util.h"

namespace fuse_conv_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

const std::vector<Tensor> kPixels = {random_tensor({2, 18, 5, 6}, 1)};

Value* image(Builder& b) { return b.input("x", DType::f32, {2, 18, 5, 6}); }

Value* conv(Builder& b, Value* x, uint64_t seed, bool bias) {
  std::vector<Value*> inputs = {x, b.constant(random_tensor({18, 18, 3, 3}, seed, -0.2, 0.2))};
  if (bias) inputs.push_back(b.constant(random_tensor({18}, seed + 100)));
  return b.add("Conv", inputs, make_attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), fmt::format("conv{}", seed));
}

Value* numbers(Builder& b, const Dims& dims, uint64_t seed) { return b.constant(random_tensor(dims, seed, 0.5, 2)); }

}  // namespace

TEST_CASE("a factor for each channel, and what is added behind it, disappears into a convolution") {
  for (bool bias : {true, false})
    for (const Dims& dims : {Dims{1, 18, 1, 1}, Dims{18, 1, 1}, Dims{}, Dims{1}}) {
      const Graph after = check_pass(
          [&](Builder& b) {
            Value* scaled = b.add("Mul", {conv(b, image(b), 2, bias), numbers(b, dims, 5)});
            b.output(b.add("Add", {numbers(b, dims, 6), b.add("Mul", {numbers(b, dims, 7), scaled})}), "y");
          },
          "conv_norm", kPixels);
      CHECK(ops_of(after) == "FusedConv");
      CHECK(node_of(after, "FusedConv").input(2)->constant().dims() == Dims{18});
      CHECK(node_of(after, "FusedConv").input(4)->constant().dims() == Dims{18});
      CHECK(node_of(after, "FusedConv").output()->name() == "y");
    }
}

TEST_CASE("vectors of a wrong length are refused before a pass reads them, though the image's rank is unknown") {
  const auto said = [](const char* op, std::initializer_list<Dims> constants) {
    Graph graph;
    Builder b(graph, all_ops());
    std::vector<Value*> inputs = {b.input("x", DType::f32, Shape())};
    for (const Dims& dims : constants) inputs.push_back(b.constant(random_tensor(dims, inputs.size())));
    b.add(op, inputs);
    return b.status().ok() ? std::string() : b.status().error().message();
  };
  CHECK_THAT(said("BatchNormalization", {{4}, {4}, {1}, {4}}), Catch::Matchers::Contains("input 3 (input_mean) has 1 elements, scale has 4"));
  CHECK_THAT(said("Conv", {{4, 3, 1, 1}, {2}}), Catch::Matchers::Contains("B has 2 elements, needs one for each of the 4 output channels"));
  CHECK_THAT(said("Conv", {{4}}), Catch::Matchers::Contains("W 4 is of rank 1, needs two dimensions and 1 to 3 spatial ones"));
  CHECK(said("BatchNormalization", {{4}, {4}, {4}, {4}}).empty());
  CHECK(said("Conv", {{4, 3, 1, 1}, {4}}).empty());
}

TEST_CASE("factors that differ within a channel, that weights would vanish by, or of a result with another user stay") {
  const auto by = [](const Tensor& factor) {
    const auto scaled = [&](Builder& b) { b.output(b.add("Mul", {conv(b, image(b), 2, true), b.constant(factor)}), "y"); };
    return ops_of(check_pass(scaled, "conv_norm", kPixels));
  };
  for (const Dims& dims : {Dims{1, 18, 1, 6}, Dims{6}, Dims{2, 1, 1, 1}, Dims{5, 1}}) CHECK(by(random_tensor(dims, 5)) == "Conv Mul");
  CHECK(by(random_tensor({}, 5, 1e-40, 1e-40)) == "Conv Mul");
  const auto shared = [](Builder& b) {
    Value* y = conv(b, image(b), 2, true);
    b.output(b.add("Mul", {y, numbers(b, {1, 18, 1, 1}, 5)}), "y");
    b.output(b.add("Relu", {y}), "z");
  };
  CHECK(ops_of(check_pass(shared, "conv_norm", kPixels)) == "Conv Mul Relu");
  const auto unscaled = [](Builder& b) { b.output(b.add("Add", {conv(b, image(b), 2, true), numbers(b, {1, 18, 1, 1}, 5)}), "y"); };
  CHECK(ops_of(check_pass(unscaled, "conv_norm", kPixels)) == "Conv Add");
}

TEST_CASE("a bias behind the sum of a convolution and something else is the convolution's") {
  for (bool first : {true, false}) {
    const Graph after = check_pass(
        [&](Builder& b) {
          Value *x = image(b), *y = conv(b, x, 2, false);
          Value* sum = first ? b.add("Add", {y, x}) : b.add("Add", {x, y});
          b.output(b.add("Add", {numbers(b, {1, 18, 1, 1}, 5), sum}), "y");
        },
        "conv_bias", kPixels);
    CHECK(ops_of(after) == "Conv Add");
    CHECK(node_of(after, "Conv").input(2)->constant().dims() == Dims{18});
    CHECK(node_of(after, "Add").output()->name() == "y");
  }
  const auto wider = [](Builder& b) {  // the constant then belongs to other dimensions than the convolution's
    Value* sum = b.add("Add", {conv(b, image(b), 2, false), b.input("z", DType::f32, {3, 2, 18, 5, 6})});
    b.output(b.add("Add", {sum, numbers(b, {1, 18, 1, 1}, 5)}), "y");
  };
  CHECK(ops_of(check_pass(wider, "conv_bias", {kPixels[0], random_tensor({3, 2, 18, 5, 6}, 2)})) == "Conv Add Add");
}
}  // namespace fuse_conv_test
