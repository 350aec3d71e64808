// Factors and terms of channels, which pass channel_affine makes one operator.
#include <cmath>

#include "tests/passes/pass_test_util.h"

namespace channel_affine_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

const std::vector<Tensor> kImage = {random_tensor({2, 18, 5, 6}, 1, -2, 2)};

Value* image(Builder& b) { return b.input("x", DType::f32, {2, 18, 5, 6}); }
Value* numbers(Builder& b, const Dims& dims, uint64_t seed) { return b.constant(random_tensor(dims, seed, 0.5, 2)); }

std::string left_of(const Describe& describe, const std::vector<Tensor>& inputs = kImage) {
  return ops_of(check_pass(describe, "channel_affine", inputs));
}

}  // namespace

TEST_CASE("a factor and a term, and the activation behind them, are one operator") {
  for (const Dims& factor : {Dims{18, 1, 1}, Dims{1, 18, 1, 1}, Dims{}})
    for (const Dims& term : {Dims{18, 1, 1}, Dims{1}})
      for (bool first : {true, false})
        CHECK(left_of([&](Builder& b) {
                Value* scaled = first ? b.add("Mul", {numbers(b, factor, 2), image(b)}) : b.add("Mul", {image(b), numbers(b, factor, 2)});
                b.output(b.add("Relu", {first ? b.add("Add", {scaled, numbers(b, term, 3)}) : b.add("Add", {numbers(b, term, 3), scaled})}), "y");
              }) == "ChannelAffine");
}

TEST_CASE("one of them alone is exact, the sign of zero too") {
  const auto by = [](const char* op, const Dims& dims) {
    return [op, dims](Builder& b) { b.output(b.add(op, {image(b), numbers(b, dims, 2)}), "y"); };
  };
  CHECK(left_of(by("Mul", {18, 1, 1})) == "ChannelAffine");
  CHECK(left_of(by("Add", {18, 1, 1})) == "ChannelAffine");
  for (const Dims& dims : {Dims{}, Dims{6}, Dims{5, 1}, Dims{2, 1, 1, 1}, Dims{2, 18, 1, 1}, Dims{18, 5, 6}})
    CHECK(left_of(by("Mul", dims)) == "Mul");
  const std::vector<Tensor> zeros = {Tensor::of<float>({1, 2, 1, 2}, {-0.0f, 0.0f, -0.0f, 0.0f})};
  const auto scaled = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {1, 2, 1, 2});
    b.output(b.add("Mul", {x, b.constant(Tensor::of<float>({2, 1, 1}, {2, -2}))}), "y");
  };
  const Tensor y = session_run(build(scaled), zeros)[0];
  for (size_t i = 0; i < 4; ++i) CHECK(std::signbit(y.data<float>()[i]) == (i == 0 || i == 3));
}

TEST_CASE("what has other users, another rank or more elements than the image stays") {
  CHECK(left_of([](Builder& b) {
          Value* scaled = b.add("Mul", {image(b), scalar(b, 3)});
          b.output(b.add("Add", {scaled, scalar(b, 2)}), "y");
          b.output(b.add("Relu", {scaled}), "z");
        }) == "Mul Add Relu");
  const auto matrix = [](Builder& b) { b.output(b.add("Mul", {b.input("x", DType::f32, {4, 18}), numbers(b, {18}, 2)}), "y"); };
  CHECK(left_of(matrix, {random_tensor({4, 18}, 1)}) == "Mul");
  const auto wider = [](Builder& b) { b.output(b.add("Mul", {b.input("x", DType::f32, {1, 18, 1}), numbers(b, {1, 1, 18, 1}, 2)}), "y"); };
  CHECK(left_of(wider, {random_tensor({1, 18, 1}, 1)}) == "Mul");
}

TEST_CASE("a layer scale within a blocked region is not reordered for") {
  const Graph graph = build([](Builder& b) {
    const auto conv = [&](Value* x, uint64_t seed) { return b.add("Conv", {x, b.constant(random_tensor({18, 18, 1, 1}, seed, -0.2, 0.2))}); };
    Value* y = b.add("Sub", {conv(image(b), 2), conv(image(b), 3)});
    b.output(conv(b.add("Mul", {y, numbers(b, {18, 1, 1}, 4)}), 5), "y");
  });
  Graph after = graph.clone();
  run_pass(after, "channel_affine");
  run_pass(after, "layout");
  CHECK(ops_of(after) == "Reorder Conv Reorder Conv Sub ChannelAffine Conv Reorder");
}
}  // namespace channel_affine_test
