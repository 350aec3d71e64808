// Types, shapes and canonical forms of elementwise operators.
#include <catch2/catch.hpp>

#include "engine/ops/infer_test_util.h"

namespace elementwise_test {
using namespace svengine;
using namespace svengine::ops::tests;

TEST_CASE("two operands broadcast") {
  CHECK(OneNode("Add", {f32({2, 3, 5}), f32({3, 1})}).outcome == "float32[2x3x5]");
  CHECK(OneNode("Add", {f32({sym("N"), 1}), f32({1, 7})}).outcome == "float32[Nx7]");
  CHECK(OneNode("Add", {f32({sym("N")}), f32({4})}).outcome == "float32[4]");
  CHECK(OneNode("Add", {f32({sym("N")}), f32({sym("M")})}).outcome == "float32[?]");
  CHECK(OneNode("Add", {f32({2, 3}), f32({2})}).says("shapes 2x3 and 2 do not broadcast"));
  CHECK(OneNode("Add", {f32({2}), i64({2})}).says("types float32 and int64"));
  CHECK(OneNode("Add", {Given(DType::boolean, {2}), Given(DType::boolean, {2})}).says("is of type bool"));
  CHECK(OneNode("Less", {i64({2}), i64({1})}).outcome == "bool[2]");
  CHECK(OneNode("And", {f32({2}), f32({2})}).says("needs bool"));
  CHECK(OneNode("Where", {Given(DType::boolean, {2, 1}), f32({3}), f32(kScalar)}).outcome == "float32[2x3]");
  CHECK(OneNode("Pow", {i64({2}), f32({2})}).outcome == "int64[2]");
  CHECK(OneNode("Max", {f32({2, 1}), f32({3}), f32(kScalar)}).outcome == "float32[2x3]");
  CHECK(OneNode("Mod", {f32({2}), f32({3, 1})}).outcome == "float32[3x2]");
  CHECK(OneNode("BitShift", {f32({2}), f32({2})}, {{"direction", std::string("LEFT")}}).says("is of type float32"));
  CHECK(OneNode("PRelu", {f32({2, 3}), f32({4, 2, 3})}).says("does not broadcast to X"));
}

TEST_CASE("opset 6 broadcasting gets its trailing dimensions") {
  OneNode old("Add", {f32({2, 3, 4, 5}), f32({3, 4})}, {{"broadcast", int64_t{1}}, {"axis", int64_t{1}}}, 1, 6);
  CHECK(old.outcome == "float32[2x3x4x5]");
  CHECK(to_string(old.node->input(1)->type) == "float32[3x4x1]");
  OneNode slope("PRelu", {f32({2, 3, 4}), f32({3})}, {}, 1, 6);
  CHECK(to_string(slope.node->input(1)->type) == "float32[3x1]");
  CHECK(OneNode("Add", {f32({2, 3}), f32({3})}, {{"broadcast", int64_t{1}}, {"axis", int64_t{5}}}, 1, 6).says("axis 5 does not fit"));
}

TEST_CASE("attributes became inputs, and aliases another operator") {
  OneNode clip("Clip", {f32({2})}, {{"min", 0.0f}, {"max", 6.0f}}, 1, 6);
  CHECK(clip.outcome == "float32[2]");
  REQUIRE(clip.node->inputs().size() == 3);
  CHECK(clip.node->input(2)->constant().data<float>()[0] == 6.0f);
  CHECK(OneNode("Clip", {f32({2}), f32({2})}).says("needs one element"));
  CHECK(OneNode("Clip", {f32({2}), ints({0})}).says("input 0 (input) and input 1 (min) are of types float32 and int64, need one type"));
  OneNode sum("Sum", {f32({2}), f32({2})});
  CHECK(sum.node->op().name == std::string_view("Add"));
  OneNode like("CastLike", {f32({2}), i64({1})});
  CHECK(like.node->op().name == std::string_view("Cast"));
  CHECK(like.outcome == "int64[2]");
  OneNode dropout("Dropout", {f32({2})}, {{"ratio", 0.5f}}, 2, 7);
  CHECK(dropout.outcome == "float32[2] float32[2]");
  CHECK(OneNode("Dropout", {Given(DType::f64, {2})}, {}, 2, 9).outcome == "float64[2] float64[2]");
  CHECK(OneNode("Dropout", {f32({2})}, {{"ratio", 0.5f}}, 2, 10).outcome == "float32[2] bool[2]");
  CHECK(OneNode("Dropout", {f32({2})}, {}, 2, 12).outcome == "float32[2] bool[2]");
}

TEST_CASE("what cannot be computed is refused") {
  CHECK(OneNode("Cast", {f32({2})}, {{"to", int64_t{14}}}).says("attribute 'to' is 14 (no element type)"));
  CHECK(OneNode("Cast", {f32({2})}, {{"to", int64_t{16}}}).outcome == "bfloat16[2]");
  CHECK(OneNode("Relu", {Given(DType::boolean, {2})}).says("is of type bool"));
  CHECK(OneNode("Gelu", {f32({2})}, {{"approximate", std::string("quick")}}).says("needs none or tanh"));
  CHECK(OneNode("Dropout", {f32({2}), Tensor::scalar(0.5f), Tensor::scalar(true)}).outcome == "float32[2]");
  CHECK(OneNode("Dropout", {f32({2}), Tensor::scalar(0.0f), Tensor::scalar(true)}).outcome == "float32[2]");
  CHECK(OneNode("IsNaN", {f32({2})}).outcome == "bool[2]");
  CHECK(OneNode("Not", {f32({2})}).says("needs bool"));
}
}  // namespace elementwise_test
