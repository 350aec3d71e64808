#include "validate/compare/compare_tensors.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace compare_tensors_test {
using namespace svengine;
using validate::Comparison;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Comparison compare_reals(std::initializer_list<float> got, std::initializer_list<float> expected, const validate::Tolerance& tolerance = {}) {
  const auto n = static_cast<int64_t>(got.size());
  return validate::compare(Tensor::of<float>({n}, got), Tensor::of<float>({n}, expected), tolerance);
}

}  // namespace

TEST_CASE("the worst errors and their places are found") {
  const Comparison c = compare_reals({1.0f, 2.5f, 100.0f, 0.01f}, {1.0f, 2.0f, 99.0f, 0.02f}, {0.1, 0});
  CHECK_FALSE(c.passed);
  CHECK(c.over == 2);
  CHECK(c.worst_abs == 1.0);
  CHECK(c.worst_abs_index == 2);
  CHECK(c.worst_rel == Approx(0.5));
  CHECK(c.worst_rel_index == 3);
}

TEST_CASE("the tolerance is atol + rtol * |expected|, inclusive") {
  CHECK(compare_reals({1.5f, -1.5f}, {1.0f, -1.0f}, {0.25, 0.25}).passed);
  CHECK_FALSE(compare_reals({1.5f}, {1.0f}, {0.25, 0.125}).passed);
  CHECK(compare_reals({0.5f}, {0.0f}, {0, 0.5}).passed);
  CHECK_FALSE(compare_reals({0.5f}, {0.0f}, {100, 0.25}).passed);
}

TEST_CASE("the default absolute tolerance relates to the largest expected value") {
  const Comparison c = compare_reals({400.0f, 0.003f}, {400.0f, 0.0f});
  CHECK(c.passed);
  CHECK(c.atol == Approx(400 * validate::kAtolOfLargest));
  CHECK(compare_reals({-400.0f, 0.005f}, {-400.0f, 0.0f}).over == 1);
  CHECK(compare_reals({4e-6f, 1e-10f}, {4e-6f, 0.0f}).over == 1);  // small numbers are not all alike
  CHECK(compare_reals({kInf, 1.0f, 1.0f}, {kInf, 1.0f, 1.1f}).over == 1);  // infinity is no size
  CHECK(compare_reals({5e-8f}, {0.0f}).passed);
  CHECK_FALSE(compare_reals({2e-7f}, {0.0f}).passed);
  CHECK(compare_reals({400.0f, 0.003f}, {400.0f, 0.0f}, {1e-3, 1e-7}).over == 1);  // given: as it is
}

TEST_CASE("NaN and infinity agree with themselves only") {
  const Comparison same = compare_reals({kNan, kInf, -kInf, -0.0f}, {kNan, kInf, -kInf, 0.0f}, {0, 0});
  CHECK(same.passed);
  CHECK(same.worst_abs_index == -1);
  for (const auto& [got, expected] : {std::pair(kNan, 1.0f), {1.0f, kNan}, {kInf, -kInf}, {kInf, 3e38f}, {3e38f, kInf}}) {
    const Comparison c = compare_reals({0, got}, {0, expected}, {1e30, 1e30});
    CHECK_FALSE(c.passed);
    CHECK(c.over == 1);
    CHECK(c.worst_abs_index == 1);
    CHECK(std::isinf(c.worst_abs));
  }
}

TEST_CASE("integers are equal or not, whatever the tolerance") {
  const Tensor a = Tensor::of<int64_t>({2}, {1, INT64_MAX}), b = Tensor::of<int64_t>({2}, {1, INT64_MAX - 1});
  const Comparison c = validate::compare(a, b, {1, 1});
  CHECK_FALSE(c.passed);
  CHECK(c.over == 1);
  CHECK(c.worst_abs_index == 1);
  CHECK(validate::compare(a, a, {0, 0}).passed);
  CHECK_FALSE(validate::compare(Tensor::of<bool>({1}, {true}), Tensor::of<bool>({1}, {false}), {1, 1}).passed);
}

TEST_CASE("other types and shapes are not compared") {
  const Tensor f = Tensor::of<float>({2}, {1, 2});
  CHECK(validate::compare(f, Tensor::of<double>({2}, {1, 2}), {}).mismatch == "is float32[2], expected float64[2]");
  CHECK(validate::compare(f, Tensor::of<float>({1, 2}, {1, 2}), {}).mismatch == "is float32[2], expected float32[1x2]");
  CHECK_FALSE(validate::compare(f, Tensor::of<float>({1, 2}, {1, 2}), {}).passed);
  CHECK(validate::compare(Tensor::of<float>({0}, {}), Tensor::of<float>({0}, {}), {}).passed);
}
}  // namespace compare_tensors_test
