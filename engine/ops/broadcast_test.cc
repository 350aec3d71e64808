#include "engine/ops/broadcast.h"

#include <catch2/catch.hpp>

#include "engine/graph/axes.h"
#include "engine/ops/infer_test_util.h"
#include "engine/ops/infer_util.h"

namespace broadcast_test {
using namespace svengine;
using namespace svengine::ops;

namespace {
const Dim kN(std::string("N")), kM(std::string("M")), kUnknown;
std::string both(Shape a, Shape b) {
  const Result<Shape> r = broadcast(a, b);
  return r.ok() ? svengine::to_string(*r) : "error";
}
}  // namespace

TEST_CASE("broadcast shapes, known and not") {
  CHECK(both({2, 1, 4}, {3, 1}) == "2x3x4");
  CHECK(both({2}, {3}) == "error");
  CHECK(both({0}, {1}) == "0");
  CHECK(both({0}, {3}) == "error");
  CHECK(both({kN}, {kN}) == "N");
  CHECK(both({kN}, {kM}) == "?");
  CHECK(both({kN}, {1}) == "N");
  CHECK(both({kN}, {5}) == "5");
  CHECK(both({kUnknown}, {kUnknown}) == "?");
  CHECK_FALSE(broadcast(Shape(), Shape{2})->has_rank());
}

TEST_CASE("a one-way broadcast keeps the target's shape") {
  const auto fits = [](Shape from, Shape target) { return require_broadcast_to(from, "scale", target, "X").ok(); };
  CHECK(fits({5, 1}, {2, 5, 4}));
  CHECK(fits({kN, 1}, {2, 5, 4}));
  CHECK(fits({kN}, {kM}));
  CHECK(fits({7}, {kN}));
  CHECK(fits({1}, {0}));
  CHECK(fits(Shape(), {3}));
  CHECK_FALSE(fits({9}, {14, 0, 1}));  // both-way it would
  CHECK_FALSE(fits({1, 4}, {4}));
  CHECK(require_broadcast_to({2}, "scale", {1}, "X").error().message() ==
        "scale of shape 2 does not broadcast to X 1: aligned at the end, its dimensions must be those of X or 1");
  for (const char* op : {"SimplifiedLayerNormalization", "RMSNormalization", "LayerNormalization", "PRelu"})
    CHECK(tests::OneNode(op, {tests::f32({14, 2, 1}), tests::f32({9})}).says("does not broadcast to"));
  // C of a product, known to be wider than the result though its rows are not known.
  CHECK(tests::OneNode("Gemm", {tests::f32({kN, 4}), tests::f32({4, 1}), tests::f32({7})})
            .says("input 2 (C) of shape 7 does not broadcast to the result Nx1"));
  CHECK(tests::OneNode("Gemm", {tests::f32({3, 4}), tests::f32({4, 5}), tests::f32({1, 3, 5})})
            .says("input 2 (C) of shape 1x3x5 does not broadcast to"));
  CHECK(tests::OneNode("Gemm", {tests::f32({kN, 4}), tests::f32({4, 5}), tests::f32({kM, 1})}).outcome == "float32[Nx5]");
}

TEST_CASE("broadcast strides are 0 where a tensor repeats") {
  CHECK(broadcast_strides({3, 1}, {2, 3, 4}) == std::vector<int64_t>{0, 1, 0});
  CHECK(broadcast_strides({2, 3, 4}, {2, 3, 4}) == std::vector<int64_t>{12, 4, 1});
  CHECK(broadcast_strides({}, {5}) == std::vector<int64_t>{0});
}

TEST_CASE("dimension arithmetic keeps what is known") {
  CHECK(add(2, 3) == Dim(5));
  CHECK(add(kN, 0) == kN);
  CHECK(add(kN, 1) == kUnknown);
  CHECK(multiply(kN, 1) == kN);
  CHECK(multiply(kN, 0) == Dim(0));
  CHECK(multiply(kN, 2) == kUnknown);
  CHECK(multiply(int64_t{1} << 40, int64_t{1} << 40) == Dim(INT64_MAX));
  CHECK(merge(kN, 3) == Dim(3));
  CHECK(merge(kUnknown, kN) == kN);
  CHECK_FALSE(known_different(kN, 3));
  CHECK(known_different(2, 3));
}

TEST_CASE("axes count from either end") {
  CHECK(*normalise_axis(-1, 3) == 2);
  CHECK_FALSE(normalise_axis(3, 3).ok());
  CHECK_FALSE(normalise_axis(0, 0).ok());
  const std::vector<int64_t> twice{0, -2};
  CHECK_FALSE(normalise_axes(twice, 2).ok());
  CHECK(to_string(DTypeSet{DType::f32}) == "float32");
  CHECK(to_string(DTypeSet{DType::f32, DType::i64, DType::boolean}) == "float32, int64 or bool");
}
}  // namespace broadcast_test
