// Pass n_bits: products by weights of 4 and 2 bits, as QDQ has them.
#include "tests/passes/pass_test_util.h"

namespace n_bits_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

struct Weights {
  DType type = DType::u4;
  int64_t k = 70, n = 19, block = 32;
  bool zeros = true;
  int64_t axis = 0;
};

int64_t bits_of(DType type) { return type == DType::u4 || type == DType::i4 ? 4 : 2; }

/// Every value of the type.
Tensor levels(DType type, Dims dims) {
  const bool is_signed = type == DType::i4 || type == DType::i2;
  const auto half = static_cast<double>(int64_t{1} << (bits_of(type) - 1));
  return random_tensor_of(type, std::move(dims), 3, is_signed ? -half : 0, is_signed ? half : 2 * half);
}

Value* dequantized(Builder& b, const Weights& w) {
  const int64_t blocks = (w.axis == 0 ? w.k - 1 : w.n - 1) / w.block + 1;
  const Dims factors = w.axis == 0 ? Dims{blocks, w.n} : Dims{w.k, blocks};
  std::vector<Value*> inputs{b.constant(levels(w.type, {w.k, w.n})), b.constant(random_tensor_of(DType::f32, factors, 4, 0.01, 0.1))};
  if (w.zeros) inputs.push_back(b.constant(levels(w.type, factors)));
  return b.add("DequantizeLinear", std::move(inputs), make_attributes({{"axis", w.axis}, {"block_size", w.block}}));
}

Graph product(const Weights& w, Dims rows = {3, 70}) {
  const Tensor x = random_tensor_of(DType::f32, rows, 1, -1, 1);
  return check_pass([&](Builder& b) { b.output(b.add("MatMul", {b.input("x", DType::f32, Shape::of(rows)), dequantized(b, w)}), "y"); },
                    "n_bits", {x});
}

}  // namespace

TEST_CASE("blocks of 4- and 2-bit weights stay packed, whatever their type and zero points") {
  for (const DType type : {DType::u4, DType::i4, DType::u2, DType::i2})
    for (const bool zeros : {false, true})
      for (const Dims& rows : {Dims{3, 70}, Dims{70}, Dims{2, 10, 70}}) {
        INFO(name_of(type) << " zeros " << zeros);
        const Graph graph = product({.type = type, .zeros = zeros}, rows);
        CHECK(ops_of(graph) == "NBitsMatMul");
        CHECK(node_of(graph, "NBitsMatMul").attributes.get_int("bits") == bits_of(type));
      }
}

TEST_CASE("what is no product by blocks of rows keeps its floats") {
  CHECK(ops_of(product({.block = 24})).ends_with(" MatMul"));
  CHECK(ops_of(product({.block = 8})).ends_with(" MatMul"));
  CHECK(ops_of(product({.block = 16, .axis = 1})).ends_with(" MatMul"));
  const std::vector<Tensor> x = {random_tensor_of(DType::f32, {3, 70}, 1, -1, 1)};
  const auto stays = [&](const Describe& describe) { CHECK(ops_of(check_pass(describe, "n_bits", x)).find("NBits") == std::string::npos); };
  stays([](Builder& b) {  // the weights are read otherwise, too
    Value* w = dequantized(b, {});
    b.output(b.add("MatMul", {b.input("x", DType::f32, Shape::of(Dims{3, 70})), w}), "y");
    b.output(w, "w");
  });
  stays([](Builder& b) {  // they are on the left
    Value* x = b.add("Transpose", {b.input("x", DType::f32, Shape::of(Dims{3, 70}))}, make_attributes({{"perm", std::vector<int64_t>{1, 0}}}));
    b.output(b.add("MatMul", {dequantized(b, {.k = 19, .n = 70}), x}), "y");
  });
}

TEST_CASE("two products share weights of 4 bits") {
  const std::vector<Tensor> x = {random_tensor_of(DType::f32, {3, 70}, 1, -1, 1), random_tensor_of(DType::f32, {20, 70}, 2, -1, 1)};
  const Graph graph = check_pass(
      [](Builder& b) {
        Value* w = dequantized(b, {});
        b.output(b.add("MatMul", {b.input("x", DType::f32, Shape::of(Dims{3, 70})), w}), "y");
        b.output(b.add("MatMul", {b.input("z", DType::f32, Shape::of(Dims{20, 70})), w}), "v");
      },
      "n_bits", x);
  CHECK(ops_of(graph) == "NBitsMatMul NBitsMatMul");
  CHECK(graph.nodes().front()->input(1) == graph.nodes().back()->input(1));
}
}  // namespace n_bits_test
