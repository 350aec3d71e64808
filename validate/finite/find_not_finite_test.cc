#include "validate/finite/find_not_finite.h"

#include <catch2/catch.hpp>
#include <limits>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"

namespace find_not_finite_test {
using namespace svengine;
using validate::FiniteReport;

namespace {

/// y = (exp(x) - exp(x)) * w.
Graph overflowing(float w) {
  Graph graph;
  Builder b(graph, all_ops());
  Value* e = b.add("Exp", {b.input("x", DType::f32, {Dim("N")})}, {}, "exponential");
  b.output(b.add("Mul", {b.add("Sub", {e, e}, {}, "difference"), b.constant(Tensor::scalar(w), "w")}, {}, "product"), "y");
  REQUIRE(Status(b.status()).ok());
  return graph;
}

FiniteReport report_of(float w, std::initializer_list<float> x) {
  SessionOptions options;
  options.topology = detect_topology(1);
  Result<FiniteReport> out =
      validate::find_not_finite(overflowing(w), {Tensor::of<float>({static_cast<int64_t>(x.size())}, x)}, options);
  if (!out.ok()) FAIL(out.error().message());
  return std::move(*out);
}

}  // namespace

TEST_CASE("finite values pass") {
  const FiniteReport r = report_of(2, {0, 1, -50});
  CHECK(r.passed());
  CHECK(r.checked == 3);
}

TEST_CASE("the first node that overflows is named, with what it read") {
  const FiniteReport r = report_of(2, {0, 100, -50, 200});
  CHECK_FALSE(r.passed());
  CHECK(r.not_finite == 3);
  REQUIRE(r.first.size() == 3);
  const validate::NotFinite& first = r.first[0];
  CHECK(first.node == "exponential");
  CHECK(first.op == "Exp");
  CHECK(first.from_finite);
  CHECK(first.value.statistics.infinities == 2);
  CHECK(first.value.statistics.max == 1);
  REQUIRE(first.inputs.size() == 1);
  CHECK((first.inputs[0].name == "x" && first.inputs[0].statistics.max == 200 && first.inputs[0].statistics.min == -50));
  CHECK(r.first[1].node == "difference");
  CHECK_FALSE(r.first[1].from_finite);
  CHECK(r.first[1].value.statistics.nans == 2);
}

TEST_CASE("weights and inputs that are not finite are told from what nodes make of them") {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const FiniteReport weight = report_of(kNaN, {0, 1});
  REQUIRE(weight.first.size() == 1);
  CHECK(weight.first[0].node == "product");
  CHECK_FALSE(weight.first[0].from_finite);
  REQUIRE(weight.first[0].inputs.size() == 2);
  CHECK((weight.first[0].inputs[1].constant && !weight.first[0].inputs[1].finite()));
  const FiniteReport input = report_of(1, {kNaN, 1});
  REQUIRE(input.inputs.size() == 1);
  CHECK(input.inputs[0].name == "x");
  CHECK(input.not_finite == 3);
}
}  // namespace find_not_finite_test
