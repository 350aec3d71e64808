// Pass `byte_tables`: results are equal, for tables hold what the nodes give.
#include "tests/passes/pass_test_util.h"

namespace byte_tables_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

Tensor all_bytes(DType type, Dims dims) {
  return random_tensor_of(type, std::move(dims), 3, type == DType::u8 ? 0 : -128, type == DType::u8 ? 256 : 128);
}

Value* number(Builder& b, DType type, double value) { return b.constant(random_tensor_of(type, {}, 1, value, value)); }

Value* real(Builder& b, Value* x, float scale = 0.03f, double zero = 5) {
  return b.add("DequantizeLinear", {x, scalar(b, scale), number(b, x->type.dtype, zero)});
}

Value* bytes(Builder& b, Value* x, float scale = 0.01f, double zero = -3, DType type = DType::i8) {
  return b.add("QuantizeLinear", {x, scalar(b, scale), number(b, type, zero)});
}

template <class F>
void check_becomes(int64_t tables, const F& build, DType type = DType::u8) {
  const Dims dims{2, 5, 37};
  Graph g = check_pass([&](Builder& b) { build(b, b.input("x", type, Shape{2, 5, 37})); }, "byte_tables", {all_bytes(type, dims)});
  int64_t found = 0;
  for (const auto& node : g.nodes()) found += node->op().name == std::string("ByteTable");
  CHECK(found == tables);
  run_pass(g, "fold");
  if (tables == 1) CHECK(ops_of(g) == "ByteTable");
}

}  // namespace

TEST_CASE("a function between quantised values is a table of bytes") {
  for (DType type : {DType::u8, DType::i8})
    for (const char* op : {"Sigmoid", "Tanh", "Exp", "HardSwish", "Sqrt", "Reciprocal", "LeakyRelu"})
      check_becomes(1, [&](Builder& b, Value* x) { b.output(bytes(b, b.add(op, {real(b, x)})), "y"); }, type);
  check_becomes(1, [](Builder& b, Value* x) { b.output(bytes(b, real(b, x), 0.5f, 7, DType::u8), "y"); });
}

TEST_CASE("values that are read twice or quantised on the way, and numbers, are parts of a table") {
  check_becomes(1, [](Builder& b, Value* x) {
    Value* f = real(b, x);
    b.output(bytes(b, b.add("Mul", {f, real(b, bytes(b, b.add("Sigmoid", {f})), 0.01f, -3)})), "y");
  });
  check_becomes(1, [](Builder& b, Value* x) {
    Value* clipped = b.add("Clip", {b.add("Add", {real(b, x), scalar(b, 3.0f)}), scalar(b, 0.0f), scalar(b, 6.0f)});
    b.output(bytes(b, b.add("Div", {b.add("Mul", {clipped, real(b, x)}), b.constant(random_tensor_of(DType::f32, {1, 1}, 1, 6, 6))})), "y");
  });
  check_becomes(1, [](Builder& b, Value* x) {
    Value* three = b.add("DequantizeLinear", {number(b, DType::u8, 30), scalar(b, 0.1f)});
    b.output(bytes(b, b.add("Where", {b.add("Less", {real(b, x), three}), three, real(b, x)})), "y");
  });
}

TEST_CASE("what is no function of one byte, or not known, is no table") {
  check_becomes(0, [](Builder& b, Value* x) {  // numbers of a dimension
    b.output(bytes(b, b.add("Sub", {real(b, x), b.constant(random_tensor_of(DType::f32, {37}, 1, 0, 1))})), "y");
  });
  check_becomes(0, [](Builder& b, Value* x) {  // another shape
    b.output(bytes(b, b.add("Sub", {real(b, x), b.constant(random_tensor_of(DType::f32, {1, 1, 1, 1}, 1, 0, 1))})), "y");
  });
  check_becomes(0, [](Builder& b, Value* x) { b.output(bytes(b, b.add("Softmax", {real(b, x)})), "y"); });
  check_becomes(0, [](Builder& b, Value* x) { b.output(bytes(b, real(b, x, 0.5f, 7), 0.5f, 7, DType::u8), "y"); });  // the same numbers
  check_becomes(0, [](Builder& b, Value* x) {  // a scale for each channel
    const std::vector<float> scales(5, 0.25f);
    Value* scale = b.constant(Tensor::of<float>({5}, std::span<const float>(scales)));
    b.output(bytes(b, b.add("Abs", {b.add("DequantizeLinear", {x, scale}, make_attributes({{"axis", int64_t{1}}}))})), "y");
  });
  const Graph two = check_pass(
      [](Builder& b) {
        Value* x = b.input("x", DType::u8, Shape{9, 7});
        Value* z = b.input("z", DType::u8, Shape{9, 7});
        b.output(bytes(b, b.add("Max", {real(b, x), real(b, z)})), "y");
      },
      "byte_tables", {all_bytes(DType::u8, {9, 7}), all_bytes(DType::u8, {9, 7})});
  CHECK(ops_of(two).find("ByteTable") == std::string::npos);
}
}  // namespace byte_tables_test
