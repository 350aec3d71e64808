// Shapes of the operators that only rename elements, and of those that make or read shapes.
#include <catch2/catch.hpp>

#include "engine/ops/infer_test_util.h"

namespace views_test {
using namespace svengine;
using namespace svengine::ops::tests;

TEST_CASE("Reshape copies dimensions, fills in -1 and carries names") {
  const Dim n = sym("N");
  CHECK(OneNode("Reshape", {f32({2, 3, 4}), ints({0, -1})}).outcome == "float32[2x12]");
  CHECK(OneNode("Reshape", {f32({n, 3, 4}), ints({0, -1})}).outcome == "float32[Nx12]");
  CHECK(OneNode("Reshape", {f32({0, 3, 4}), ints({0, -1})}).outcome == "float32[0x12]");
  CHECK(OneNode("Reshape", {f32({1, 0}), ints({-1, 0})}).outcome == "float32[1x0]");
  CHECK(OneNode("Reshape", {f32({sym("B"), 4, sym("L"), 0}), ints({0, 4, -1, 0})}).outcome == "float32[Bx4xLx0]");
  CHECK(OneNode("Reshape", {f32({n, 3, 4}), ints({-1, 12})}).outcome == "float32[Nx12]");
  CHECK(OneNode("Reshape", {f32({n, 3, 4}), ints({-1, 6})}).outcome == "float32[?x6]");
  CHECK(OneNode("Reshape", {f32({n, sym("L"), 8}), ints({0, 0, 2, 4})}).outcome == "float32[NxLx2x4]");
  CHECK(OneNode("Reshape", {f32({n, sym("L"), 8}), ints({-1, 8})}).outcome == "float32[?x8]");
  CHECK(OneNode("Reshape", {f32({n, 8}), i64({3})}).outcome == "float32[?x?x?]");
  CHECK(OneNode("Reshape", {f32({0, 3}), ints({5, 0})}, {{"allowzero", int64_t{1}}}).outcome == "float32[5x0]");
  CHECK(OneNode("Reshape", {f32(kScalar), ints({1, 1})}).outcome == "float32[1x1]");
}

TEST_CASE("Reshape refuses what does not fit") {
  CHECK(OneNode("Reshape", {f32({2, 3}), ints({4, 2})}).says("shape 2x3 has 6 elements, the new shape 4x2 has 8"));
  CHECK(OneNode("Reshape", {f32({2, 3}), ints({-1, 4})}).says("6 elements do not divide by the other dimensions' product 4"));
  CHECK(OneNode("Reshape", {f32({2, 3}), ints({-1, -1})}).says("more than one -1"));
  CHECK(OneNode("Reshape", {f32({2, 3}), ints({-2, 3})}).says("dimension -2"));
  CHECK(OneNode("Reshape", {f32({2, 3}), ints({2, 3, 0})}).says("dimension 2 of the new shape is 0 (copy)"));
  CHECK(OneNode("Reshape", {f32({0, 3}), ints({0, -1})}, {{"allowzero", int64_t{1}}}).says("both 0 and -1"));
  CHECK(OneNode("Reshape", {f32({2, 3}), f32({2})}).says("input 1 (shape) is of type float32, needs int64"));
}

TEST_CASE("Squeeze and Unsqueeze take axes as attribute or input") {
  CHECK(OneNode("Squeeze", {f32({1, 3, 1}), ints({-1})}).outcome == "float32[1x3]");
  CHECK(OneNode("Squeeze", {f32({1, 3, 1})}).outcome == "float32[3]");
  CHECK(OneNode("Squeeze", {f32({sym("N"), 1})}).outcome == "float32[?]");
  CHECK(OneNode("Squeeze", {f32({sym("N"), 1}), ints({1})}).outcome == "float32[N]");
  CHECK(OneNode("Squeeze", {f32({1, 3})}, {{"axes", std::vector<int64_t>{0}}}, 1, 11).outcome == "float32[3]");
  CHECK(OneNode("Squeeze", {f32({1, 3}), ints({1})}).says("axis 1 of shape 1x3 is 3, only 1 can be squeezed"));
  CHECK(OneNode("Squeeze", {f32({1, 3}), ints({2})}).says("axes 2 is outside [-2, 1] for rank 2"));
  CHECK(OneNode("Unsqueeze", {f32({3, 5}), ints({-1, 0})}).outcome == "float32[1x3x5x1]");
  CHECK(OneNode("Unsqueeze", {f32({3})}, {{"axes", std::vector<int64_t>{0, 2}}}, 1, 11).outcome == "float32[1x3x1]");
  CHECK(OneNode("Unsqueeze", {f32({3}), ints({0, 0})}).says("axes names axis 0 twice"));
}

TEST_CASE("Flatten, Transpose and Identity") {
  CHECK(OneNode("Flatten", {f32({sym("N"), 3, 5})}).outcome == "float32[Nx15]");
  CHECK(OneNode("Flatten", {f32({2, 3, 5})}, {{"axis", int64_t{0}}}).outcome == "float32[1x30]");
  CHECK(OneNode("Flatten", {f32({2, 3, 5})}, {{"axis", int64_t{3}}}).outcome == "float32[30x1]");
  CHECK(OneNode("Flatten", {f32({2, 3, 5})}, {{"axis", int64_t{4}}}).says("axis 4 is outside [-3, 2]"));
  CHECK(OneNode("Transpose", {f32({sym("N"), 3, 5})}).outcome == "float32[5x3xN]");
  CHECK(OneNode("Transpose", {f32({2, 3, 5})}, {{"perm", std::vector<int64_t>{0, 2, 1}}}).outcome == "float32[2x5x3]");
  CHECK(OneNode("Transpose", {f32({2, 3})}, {{"perm", std::vector<int64_t>{0, 2}}}).says("perm 2 is outside"));
  CHECK(OneNode("Transpose", {f32({2, 3})}, {{"perm", std::vector<int64_t>{0}}}).says("perm has 1 entries"));
  CHECK(OneNode("Identity", {f32({sym("N")})}).outcome == "float32[N]");
}

TEST_CASE("Shape and its window") {
  CHECK(OneNode("Shape", {f32({2, 3, 5})}).outcome == "int64[3]");
  CHECK(OneNode("Shape", {f32({2, 3, 5})}, {{"start", int64_t{-1}}}).outcome == "int64[1]");
  CHECK(OneNode("Shape", {f32({2, 3, 5})}, {{"start", int64_t{2}}, {"end", int64_t{1}}}).outcome == "int64[0]");
  CHECK(OneNode("Size", {f32({2, 3, 5})}).outcome == "int64[scalar]");
}

TEST_CASE("Constant becomes a constant of the graph") {
  OneNode of("Constant", {}, {{"value_floats", std::vector<float>{1, 2}}});
  CHECK(of.outcome == "float32[2]");
  bool found = false;
  of.graph.for_each_value([&](Value& v) { found = found || (v.is_constant() && v.constant().data<float>()[1] == 2); });
  CHECK(found);
  CHECK(OneNode("Constant", {}).says("0 value attributes are given"));
  CHECK(OneNode("Constant", {}, {{"value_string", std::string("a")}}).outcome == "string[scalar]");
  CHECK(OneNode("Constant", {}, {{"value_strings", std::vector<std::string>{"a", "b"}}}).outcome == "string[2]");
  CHECK(OneNode("Constant", {}, {{"sparse_value", Tensor::of<float>({2}, {0, 1})}}).outcome == "float32[2]");
}

TEST_CASE("ConstantOfShape, Expand and Range depend on values") {
  CHECK(OneNode("ConstantOfShape", {ints({2, 3})}).outcome == "float32[2x3]");
  CHECK(OneNode("ConstantOfShape", {i64({2})}, {{"value", Tensor::of<int64_t>({1}, {1})}}).outcome == "int64[?x?]");
  CHECK(OneNode("ConstantOfShape", {ints({-1})}).says("negative dimension"));
  CHECK(OneNode("ConstantOfShape", {ints({1 << 30, 1 << 30})}).says("more than 2^48 elements"));
  CHECK(OneNode("Expand", {f32({3, 1}), ints({2, 1, 4})}).outcome == "float32[2x3x4]");
  CHECK(OneNode("Expand", {f32({sym("N"), 1}), ints({1, 4})}).outcome == "float32[Nx4]");
  CHECK(OneNode("Expand", {f32({3}), ints({4})}).says("shapes 3 and 4 do not broadcast"));
  const auto scalar = [](int64_t v) { return Given(Tensor::scalar<int64_t>(v)); };
  CHECK(OneNode("Range", {scalar(0), scalar(7), scalar(2)}).outcome == "int64[4]");
  CHECK(OneNode("Range", {scalar(5), scalar(0), scalar(2)}).outcome == "int64[0]");
  CHECK(OneNode("Range", {scalar(0), i64(kScalar), scalar(1)}).outcome == "int64[?]");
  CHECK(OneNode("Range", {scalar(0), scalar(7), scalar(0)}).says("delta is 0"));
  constexpr int64_t kNoDouble = (int64_t{1} << 60) + 1;
  CHECK(OneNode("Range", {scalar(kNoDouble), scalar(kNoDouble + 5), scalar(2)}).outcome == "int64[3]");
  CHECK(OneNode("Range", {scalar(-kNoDouble), scalar(-kNoDouble - 5), scalar(-1)}).outcome == "int64[5]");
  CHECK(OneNode("Range", {scalar(INT64_MIN), scalar(INT64_MAX), scalar(INT64_MAX)}).outcome == "int64[3]");
  CHECK(OneNode("Range", {scalar(INT64_MAX), scalar(INT64_MIN), scalar(INT64_MIN)}).outcome == "int64[2]");
  CHECK(OneNode("Range", {scalar(0), scalar(INT64_MAX), scalar(1)}).says("more than 2^48"));
}
}  // namespace views_test
