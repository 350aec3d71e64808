// Shapes and canonical forms of reductions.
#include <catch2/catch.hpp>

#include "engine/ops/infer_test_util.h"

namespace reduce_test {
using namespace svengine;
using namespace svengine::ops::tests;

TEST_CASE("reductions keep or drop dimensions") {
  const Shape x{sym("N"), 3, 5};
  CHECK(OneNode("ReduceMean", {f32(x)}).outcome == "float32[1x1x1]");
  CHECK(OneNode("ReduceMean", {f32(x)}, {{"keepdims", int64_t{0}}}).outcome == "float32[scalar]");
  CHECK(OneNode("ReduceMean", {f32(x), ints({-1})}).outcome == "float32[Nx3x1]");
  CHECK(OneNode("ReduceMean", {f32(x), ints({1, 2})}, {{"keepdims", int64_t{0}}}).outcome == "float32[N]");
  CHECK(OneNode("ReduceSum", {f32(x), ints({})}, {{"noop_with_empty_axes", int64_t{1}}}).outcome == "float32[Nx3x5]");
  CHECK(OneNode("ReduceSum", {f32(x), ints({})}).outcome == "float32[1x1x1]");
  CHECK(OneNode("ReduceSum", {f32(x), i64({1})}).outcome == "float32[?x?x?]");
}

TEST_CASE("axes were an attribute") {
  OneNode old("ReduceMax", {f32({2, 3})}, {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}}, 1, 12);
  CHECK(old.outcome == "float32[2]");
  REQUIRE(old.node->inputs().size() == 2);
  CHECK(old.node->input(1)->constant().as_int64s() == std::vector<int64_t>{1});
}

TEST_CASE("reductions refuse wrong axes and types") {
  CHECK(OneNode("ReduceSum", {f32({2, 3}), ints({2})}).says("axes 2 is outside [-2, 1] for rank 2"));
  CHECK(OneNode("ReduceSum", {f32({2, 3}), ints({0, -2})}).says("names axis 0 twice"));
  CHECK(OneNode("ReduceSum", {Given(DType::boolean, {2})}).says("input 0 (data) is of type bool"));
  CHECK(OneNode("ArgMax", {f32({2, 3})}).outcome == "int64[1x3]");
  CHECK(OneNode("ArgMin", {f32({2, 3})}, {{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}}).outcome == "int64[2]");
  CHECK(OneNode("ArgMax", {f32({0, 3})}).says("axis 0 is empty"));
}
}  // namespace reduce_test
