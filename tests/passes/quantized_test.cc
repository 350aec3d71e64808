// Passes of quantised networks: quantized, dynamic_quantized, quantized_layout. Scales are powers of two, so that the float32 graph rounds
// what the integers round, and results are equal.
#include "tests/passes/pass_test_util.h"

namespace quantized_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

Tensor bytes(DType type, Dims dims, uint64_t seed) {
  return random_tensor_of(type, std::move(dims), seed, type == DType::u8 ? 0 : -128, type == DType::u8 ? 256 : 128);
}

Value* zero_point(Builder& b, DType type, double value) { return b.constant(random_tensor_of(type, {}, 1, value, value)); }

/// x as the caller has it: bytes.
Value* dequantized(Builder& b, Value* x, float scale, double zero) {
  return b.add("DequantizeLinear", {x, scalar(b, scale), zero_point(b, x->type.dtype, zero)});
}

Value* quantized(Builder& b, Value* x, float scale, double zero, DType type = DType::u8) {
  return b.add("QuantizeLinear", {x, scalar(b, scale), zero_point(b, type, zero)});
}

/// Weights [m, ...], one scale for each of dimension `axis`.
Value* weights(Builder& b, Dims dims, int64_t axis, uint64_t seed = 5) {
  const int64_t m = dims[static_cast<size_t>(axis)];
  std::vector<float> scales(static_cast<size_t>(m));
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = i % 2 ? 0.03125f : 0.015625f;
  Value* scale = b.constant(Tensor::of<float>({m}, std::span<const float>(scales)));
  return b.add("DequantizeLinear",
               {b.constant(bytes(DType::i8, std::move(dims), seed)), scale, b.constant(random_tensor_of(DType::i8, {m}, 1, 0, 0))},
               make_attributes({{"axis", axis}}));
}

Value* image(Builder& b, DType type = DType::u8) {
  return dequantized(b, b.input("x", type, {1, 6, 7, 5}), 0.0625f, type == DType::u8 ? 120 : -3);
}

const std::vector<Tensor> kImage = {bytes(DType::u8, {1, 6, 7, 5}, 1)};

Value* conv(Builder& b, Value* x, int64_t group = 1, uint64_t seed = 5) {
  Value* bias = b.constant(random_tensor_of(DType::f32, {6}, 4, 1, 1));
  return b.add("Conv", {x, weights(b, {6, 6 / group, 3, 3}, 0, seed), bias},
               make_attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"group", group}}));
}

}  // namespace

TEST_CASE("a convolution between quantised values is one of integers, and an activation a bound") {
  const Graph plain = check_pass([](Builder& b) { b.output(quantized(b, conv(b, image(b)), 0.5f, 100), "y"); }, "quantized", kImage);
  CHECK(node_of(plain, "QLinearConv").op().domain == std::string(""));
  CHECK(ops_of(plain).find(" Conv") == std::string::npos);
  const Graph bounded = check_pass(
      [](Builder& b) {
        Value* y = b.add("Clip", {conv(b, image(b), 6), scalar(b, 0.0f), scalar(b, 6.0f)});
        b.output(quantized(b, y, 0.0625f, 100), "y");
      },
      "quantized", kImage);
  CHECK(node_of(bounded, "QLinearConv").attributes.get_int("low") == 100);
  CHECK(node_of(bounded, "QLinearConv").attributes.get_int("high") == 196);
}

TEST_CASE("a value that is read as float32 too, and scales that are not known, leave a convolution as it is") {
  const Graph read = check_pass(
      [](Builder& b) {
        Value* y = conv(b, image(b));
        b.output(quantized(b, y, 0.5f, 100), "y");
        b.output(y, "z");
      },
      "quantized", kImage);
  CHECK(ops_of(read).find("QLinearConv") == std::string::npos);
  const Graph unknown = check_pass(
      [](Builder& b) {
        b.output(b.add("QuantizeLinear", {conv(b, image(b)), b.input("scale", DType::f32, Shape(std::vector<Dim>{}))}), "y");
      },
      "quantized", {kImage[0], Tensor::scalar(0.5f)});
  CHECK(ops_of(unknown).find("QLinearConv") == std::string::npos);
}

TEST_CASE("a mean of quantised values is one of bytes, in the layout that convolutions have them in") {
  for (const char* op : {"GlobalAveragePool", "ReduceMean"})
    for (int64_t keep : {int64_t{0}, int64_t{1}}) {
      const bool pool = op == std::string("GlobalAveragePool");
      if (pool && !keep) continue;
      const Graph g = check_pass(
          [&](Builder& b) {  // 64 elements: their sum is divided without rounding
            Value* x = dequantized(b, b.input("x", DType::u8, {2, 3, 4, 16}), 0.0625f, 120);
            Value* y = pool ? b.add(op, {x}) : b.add(op, {x, b.integers({3, -2})}, make_attributes({{"keepdims", keep}}));
            b.output(quantized(b, y, 0.125f, -3, DType::i8), "y");
          },
          "quantized", {bytes(DType::u8, {2, 3, 4, 16}, 1)});
      CHECK(ops_of(g) == "BytesMean");
    }
  const Graph apart = check_pass(
      [&](Builder& b) {
        Value* x = dequantized(b, b.input("x", DType::u8, {2, 3, 4, 16}), 0.0625f, 120);
        b.output(quantized(b, b.add("ReduceMean", {x, b.integers({0, 2})}), 0.125f, 3), "y");
      },
      "quantized", {bytes(DType::u8, {2, 3, 4, 16}, 1)});
  CHECK(ops_of(apart).find("BytesMean") == std::string::npos);
  Graph after = build([&](Builder& b) {
    Value* act = quantized(b, b.add("HardSwish", {dequantized(b, quantized(b, conv(b, image(b)), 0.5f, 100), 0.5f, 100)}), 0.5f, 10);
    b.output(quantized(b, b.add("GlobalAveragePool", {dequantized(b, act, 0.5f, 10)}), 0.125f, 3), "y");
  });
  for (const char* name : {"infer", "byte_tables", "quantized", "fold"}) run_pass(after, name);
  const Graph turned = after.clone();
  run_pass(after, "quantized_layout");
  CHECK(ops_of(after) == "Transpose QLinearConv ByteTable BytesMean Transpose");
  const Tensor got = evaluated(after, kImage)[0], wanted = evaluated(turned, kImage)[0];
  CHECK(std::equal(wanted.raw(), wanted.raw() + wanted.byte_size(), got.raw()));
}

TEST_CASE("products and sums between quantised values are those of integers") {
  const auto rows = [](Builder& b) { return dequantized(b, b.input("x", DType::u8, {5, 18}), 0.0625f, 9); };
  const std::vector<Tensor> x = {bytes(DType::u8, {5, 18}, 1)};
  const Graph product = check_pass(
      [&](Builder& b) {
        b.output(quantized(b, b.add("MatMul", {rows(b), weights(b, {18, 7}, 1)}), 0.5f, 3), "y");
      },
      "quantized", x);
  CHECK(ops_of(product).find("QLinearMatMul") != std::string::npos);
  const Graph gemm = check_pass(
      [&](Builder& b) {
        Value* bias = b.constant(random_tensor_of(DType::f32, {7}, 4, 2, 2));
        b.output(quantized(b, b.add("Gemm", {rows(b), weights(b, {7, 18}, 0), bias}, make_attributes({{"transB", int64_t{1}}})), 0.5f, -3,
                           DType::i8),
                 "y");
      },
      "quantized", x);
  CHECK(ops_of(gemm).find("QGemm") != std::string::npos);
  const Graph sum = check_pass(
      [&](Builder& b) {
        Value* left = rows(b);
        b.output(quantized(b, b.add("Add", {left, dequantized(b, b.input("z", DType::u8, {5, 18}), 0.125f, 7)}), 0.25f, 3), "y");
      },
      "quantized", {x[0], bytes(DType::u8, {5, 18}, 2)});
  CHECK(ops_of(sum) == "QLinearAdd");
}

TEST_CASE("products whose result stays real are those of integers, too") {
  const auto rows = [](Builder& b) { return dequantized(b, b.input("x", DType::u8, {2, 5, 18}), 0.0625f, 9); };
  const std::vector<Tensor> x = {bytes(DType::u8, {2, 5, 18}, 1)};
  const Graph biased = check_pass(
      [&](Builder& b) {
        Value* product = b.add("MatMul", {rows(b), weights(b, {18, 7}, 1)});
        b.output(b.add("Add", {b.constant(random_tensor_of(DType::f32, {7}, 4, 2, 2)), product}), "y");
      },
      "quantized_real", x);
  CHECK(ops_of(biased) == "MatMulIntegerToFloat");
  const Graph both = check_pass(
      [&](Builder& b) {
        Value* left = rows(b);
        b.output(b.add("MatMul", {left, dequantized(b, b.input("z", DType::i8, {2, 18, 3}), 0.125f, -7)}), "y");
      },
      "quantized_real", {x[0], bytes(DType::i8, {2, 18, 3}, 2)});
  CHECK(ops_of(both) == "MatMulIntegerToFloat");
  const Graph gemm = check_pass(
      [&](Builder& b) {
        Value* a = dequantized(b, b.input("x", DType::u8, {5, 18}), 0.0625f, 9);
        Value* bias = b.constant(random_tensor_of(DType::f32, {7}, 4, 2, 2));
        b.output(b.add("Gemm", {a, weights(b, {7, 18}, 0), bias}, make_attributes({{"transB", int64_t{1}}})), "y");
      },
      "quantized_real", {bytes(DType::u8, {5, 18}, 1)});
  CHECK(ops_of(gemm) == "QGemm");
  const auto stays = [&](const Describe& describe) { CHECK(ops_of(check_pass(describe, "quantized_real", x)).ends_with(" MatMul")); };
  stays([&](Builder& b) { b.output(b.add("MatMul", {rows(b), b.constant(random_tensor({18, 7}, 3))}), "y"); });
  stays([&](Builder& b) { b.output(b.add("MatMul", {rows(b), weights(b, {18, 7}, 0)}), "y"); });  // a scale a row
}

TEST_CASE("what only moves elements moves bytes, unless they are quantised anew") {
  const auto reshaped = [](float scale) {
    return [scale](Builder& b) { b.output(quantized(b, b.add("Reshape", {image(b), b.integers({6, 35})}), scale, 120), "y"); };
  };
  CHECK(ops_of(check_pass(reshaped(0.0625f), "quantized", kImage)) == "Reshape");
  CHECK(ops_of(check_pass(reshaped(0.125f), "quantized", kImage)) == "DequantizeLinear Reshape QuantizeLinear");
}

TEST_CASE("convolutions and sums between them stay channels last") {
  const auto describe = [](Builder& b) {
    Value* x = quantized(b, conv(b, image(b)), 0.5f, 100);
    Value* y = quantized(b, conv(b, dequantized(b, x, 0.5f, 100), 6, 8), 1.0f, 90);
    b.output(quantized(b, b.add("Add", {dequantized(b, x, 0.5f, 100), dequantized(b, y, 1.0f, 90)}), 2.0f, 80), "y");
  };
  Graph graph = build(describe);
  run_pass(graph, "quantized");
  run_pass(graph, "quantized_layout");
  CHECK(ops_of(graph) == "Transpose QLinearConv QLinearConv QLinearAdd Transpose");
  check_close(evaluated(graph, kImage), evaluated(build(describe), kImage), "channels last");
}

TEST_CASE("poolings and concatenations of values by the same numbers are of bytes, channels last between convolutions") {
  const auto describe = [](Builder& b) {
    Value* x = dequantized(b, quantized(b, conv(b, image(b)), 0.5f, 100), 0.5f, 100);
    Value* pooled =
        b.add("MaxPool", {x}, make_attributes({{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
    pooled = dequantized(b, quantized(b, pooled, 0.5f, 100), 0.5f, 100);
    Value* both = b.add("Concat", {x, pooled}, make_attributes({{"axis", int64_t{1}}}));
    both = dequantized(b, quantized(b, both, 0.5f, 100), 0.5f, 100);
    Value* y = b.add("Conv", {both, weights(b, {4, 12, 1, 1}, 0)});
    b.output(quantized(b, y, 1.0f, 90), "y");
  };
  Graph graph = build(describe);
  run_pass(graph, "quantized");
  CHECK(ops_of(graph) == "QLinearConv BytesMaxPool Concat QLinearConv");
  run_pass(graph, "quantized_layout");
  CHECK(ops_of(graph) == "Transpose QLinearConv BytesMaxPool Concat QLinearConv Transpose");
  check_close(evaluated(graph, kImage), evaluated(build(describe), kImage), "poolings and concatenations");
  const auto other = [](Builder& b) {
    Value* x = image(b);
    b.output(quantized(b, b.add("Concat", {x, x}, make_attributes({{"axis", int64_t{0}}})), 0.125f, 120), "y");
    b.output(quantized(b, b.add("MaxPool", {x}, make_attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}})), 0.0625f, 121), "z");
  };
  CHECK(ops_of(check_pass(other, "quantized", kImage)).find("Bytes") == std::string::npos);
}

TEST_CASE("a product of values that are quantised on the way scales and adds in one step") {
  const Graph after = check_pass(
      [](Builder& b) {
        Node* a = b.node("", "DynamicQuantizeLinear", {b.input("x", DType::f32, {2, 5, 18})}, 3);
        Value* product =
            b.add("MatMulInteger", {a->output(0), b.constant(bytes(DType::i8, {18, 7}, 3)), a->output(2), zero_point(b, DType::i8, 2)});
        Value* scale = b.add("Mul", {a->output(1), b.constant(random_tensor({7}, 4, 0.01, 0.02))});
        Value* scaled = b.add("Mul", {b.add("Cast", {product}, make_attributes({{"to", int64_t{1}}})), scale});
        b.output(b.add("Add", {b.constant(random_tensor({7}, 6)), scaled}), "y");
      },
      "dynamic_quantized", {random_tensor({2, 5, 18}, 1)});
  CHECK(ops_of(after).find("MatMulIntegerToFloat") != std::string::npos);
  CHECK(ops_of(after).find("MatMulIntegerToFloat Mul") == std::string::npos);
}
}  // namespace quantized_test
