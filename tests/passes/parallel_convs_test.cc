// Sums of convolutions of one image, which pass parallel_convs makes one convolution.
#include "tests/passes/pass_test_util.h"

namespace parallel_convs_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

using Ints = std::vector<int64_t>;

struct ConvOf {
  Dims weights;
  Ints pads = {};
  int64_t group = 1;
  Ints strides = {}, dilations = {};
  bool bias = false;
};

Value* conv(Builder& b, Value* x, const ConvOf& of, uint64_t seed) {
  std::vector<Value*> inputs = {x, b.constant(random_tensor(of.weights, seed, -0.3, 0.3))};
  if (of.bias) inputs.push_back(b.constant(random_tensor({of.weights[0]}, seed + 100)));
  Attributes attributes = make_attributes({{"group", of.group}});
  if (!of.pads.empty()) attributes.set("pads", of.pads);
  if (!of.strides.empty()) attributes.set("strides", of.strides);
  if (!of.dilations.empty()) attributes.set("dilations", of.dilations);
  return b.add("Conv", inputs, std::move(attributes));
}

Value* norm(Builder& b, Value* x, int64_t channels, uint64_t seed) {
  std::vector<Value*> inputs = {x};
  for (uint64_t i = 0; i < 4; ++i) inputs.push_back(b.constant(random_tensor({channels}, seed + i, 0.5, 1.5)));
  return b.add("BatchNormalization", inputs);
}

/// The operators that are left of the sum of two convolutions of one image.
std::string left_of(const Dims& image, const ConvOf& first, const ConvOf& second) {
  const auto sum = [&](Builder& b) {
    Value* x = b.input("x", DType::f32, Shape::of(image));
    b.output(b.add("Add", {conv(b, x, first, 2), conv(b, x, second, 3)}), "y");
  };
  return ops_of(check_pass(sum, "parallel_convs", {random_tensor(image, 1)}));
}

}  // namespace

TEST_CASE("the branches of a RepVGG block are one convolution, in every order") {
  const Dims image = {2, 6, 7, 5};
  for (int64_t group : {1, 2, 6})
    for (int order = 0; order < 3; ++order) {
      const auto block = [&](Builder& b) {
        Value* x = b.input("x", DType::f32, Shape::of(image));
        std::vector<Value*> terms = {conv(b, x, {{6, 6 / group, 3, 3}, {1, 1, 1, 1}, group, {}, {}, true}, 2),
                                     conv(b, x, {{6, 6 / group, 1, 1}, {}, group}, 3), norm(b, x, 6, 4)};
        std::rotate(terms.begin(), terms.begin() + order, terms.end());
        b.output(b.add("Relu", {b.add("Add", {b.add("Add", {terms[0], terms[1]}), terms[2]})}), "y");
      };
      const std::string left = ops_of(check_pass(block, "parallel_convs", {random_tensor(image, 1)}));
      CHECK(left == "Conv Relu");
    }
}

TEST_CASE("norms behind the branches are part of their weights before") {
  const auto block = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {1, 4, 6, 6});
    Value* large = norm(b, conv(b, x, {{4, 4, 3, 3}, {1, 1, 1, 1}}, 2), 4, 5);
    b.output(b.add("Add", {large, norm(b, conv(b, x, {{4, 4, 1, 1}}, 3), 4, 15)}), "y");
  };
  Graph graph = build(block);
  const std::vector<Tensor> pixels = {random_tensor({1, 4, 6, 6}, 1)};
  const std::vector<Tensor> expected = evaluated(graph, pixels, reference_context());
  run_pass(graph, "conv_norm");
  run_pass(graph, "parallel_convs");
  CHECK(ops_of(graph) == "FusedConv");
  check_close(evaluated(graph, pixels), expected, "both passes");
}

TEST_CASE("an image that is added to its depthwise convolution is a tap of it; to a dense one it stays a residual") {
  const auto left = [](const ConvOf& of) {
    const auto block = [&](Builder& b) {
      Value* x = b.input("x", DType::f32, {1, 4, 6, 5});
      b.output(b.add("Add", {x, conv(b, x, of, 2)}), "y");
    };
    return ops_of(check_pass(block, "parallel_convs", {random_tensor({1, 4, 6, 5}, 1)}));
  };
  CHECK(left({{4, 1, 5, 5}, {2, 2, 2, 2}, 4}) == "Conv");
  CHECK(left({{4, 4, 3, 3}, {1, 1, 1, 1}}) == "Conv Add");
}

TEST_CASE("kernels of which one has the other's taps are summed") {
  const Dims image = {1, 4, 9, 8};
  CHECK(left_of(image, {{5, 4, 3, 3}, {1, 1, 1, 1}, 1, {2, 2}}, {{5, 4, 1, 1}, {}, 1, {2, 2}}) == "Conv");
  CHECK(left_of(image, {{4, 4, 5, 5}, {2, 2, 2, 2}}, {{4, 4, 3, 3}, {2, 2, 2, 2}, 1, {}, {2, 2}}) == "Conv");
  CHECK(left_of(image, {{4, 4, 1, 3}, {0, 1, 0, 1}}, {{4, 4, 3, 3}, {1, 1, 1, 1}}) == "Conv");
  CHECK(left_of(image, {{4, 4, 3, 3}, {2, 0, 0, 2}}, {{4, 2, 1, 1}, {}, 2}) == "Conv");  // the corner that the padding moves there
  CHECK(left_of(image, {{4, 4, 3, 3}, {1, 1, 1, 1}, 1, {}, {}, true}, {{4, 4, 3, 3}, {1, 1, 1, 1}, 1, {}, {}, true}) == "Conv");
  CHECK(left_of({1, 4, 9}, {{4, 1, 7}, {3, 3}, 4}, {{4, 1, 3}, {1, 1}, 4}) == "Conv");
  CHECK(left_of({1, 2, 4, 5, 3}, {{3, 2, 3, 1, 3}, {1, 0, 1, 1, 0, 1}}, {{3, 2, 1, 1, 3}, {0, 0, 1, 0, 0, 1}}) == "Conv");
}

TEST_CASE("kernels that have not are left alone") {
  const Dims image = {1, 4, 9, 8};
  const std::string both = "Conv Conv Add";
  CHECK(left_of(image, {{4, 4, 1, 3}, {0, 1, 0, 1}}, {{4, 4, 3, 1}, {1, 0, 1, 0}}) == both);
  CHECK(left_of(image, {{4, 4, 3, 3}, {2, 2, 2, 2}, 1, {}, {2, 2}}, {{4, 4, 3, 3}, {1, 1, 1, 1}}) == both);
  CHECK(left_of({1, 4, 9, 9}, {{4, 4, 2, 2}, {1, 1, 1, 1}, 1, {2, 2}}, {{4, 4, 1, 1}, {}, 1, {2, 2}}) == both);  // as many outputs of 9, not of 8
  CHECK(left_of(image, {{4, 1, 3, 3}, {1, 1, 1, 1}, 4}, {{4, 4, 1, 1}}) == both);  // depthwise taps are not those of a dense kernel
  CHECK(left_of(image, {{4, 4, 1, 1}}, {{4, 4, 3, 3}, {1, 1, 1, 1}, 1, {}, {}}) == "Conv");
}

TEST_CASE("branches with other users, of other images, or whose sum no float holds stay") {
  const auto shared = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {1, 4, 6, 6});
    Value* small = conv(b, x, {{4, 4, 1, 1}}, 3);
    b.output(b.add("Add", {conv(b, x, {{4, 4, 3, 3}, {1, 1, 1, 1}}, 2), small}), "y");
    b.output(small, "z");
  };
  CHECK(ops_of(check_pass(shared, "parallel_convs", {random_tensor({1, 4, 6, 6}, 1)})) == "Conv Conv Add");
  const auto others = [](Builder& b) {
    Value *x = b.input("x", DType::f32, {1, 4, 6, 6}), *z = b.input("z", DType::f32, {1, 4, 6, 6});
    b.output(b.add("Add", {conv(b, x, {{4, 4, 3, 3}, {1, 1, 1, 1}}, 2), norm(b, z, 4, 3)}), "y");
  };
  CHECK(ops_of(check_pass(others, "parallel_convs", {random_tensor({1, 4, 6, 6}, 1), random_tensor({1, 4, 6, 6}, 2)})) ==
        "Conv BatchNormalization Add");
  const auto overflow = [](Builder& b) {
    Value *x = b.input("x", DType::f32, {1, 1, 2, 2}), *weight = b.constant(Tensor::of<float>({1, 1, 1, 1}, {3e38f}));
    Value* other = b.constant(Tensor::of<float>({1, 1, 1, 1}, {2e38f}));
    b.output(b.add("Add", {b.add("Conv", {x, weight}), b.add("Conv", {x, other})}), "y");
  };
  const Tensor tiny = Tensor::of<float>({1, 1, 2, 2}, {0.5f, 0.25f, -0.5f, 0});
  CHECK(ops_of(check_pass(overflow, "parallel_convs", {tiny})) == "Conv Conv Add");
}
}  // namespace parallel_convs_test
