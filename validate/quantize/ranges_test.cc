#include "validate/quantize/ranges.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <span>

namespace ranges_test {
using namespace svengine;
using namespace svengine::validate;

namespace {

Tensor floats(const std::vector<float>& values) { return Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span<const float>(values)); }

std::vector<float> normal_numbers(size_t count, bool absolute) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> out(count);
  for (float& x : out) x = absolute ? std::abs(normal(random)) : normal(random);
  return out;
}

Histogram histogram_of(const std::vector<float>& values, Range range, bool absolute) {
  Histogram out(range, absolute);
  out.add(floats(values));
  return out;
}

}  // namespace

TEST_CASE("extremes leave out what is not finite, and count it") {
  RangeMeter meter;
  CHECK(meter.range().high == 0);
  meter.add(floats({3, -2, std::numeric_limits<float>::infinity()}));
  meter.add(floats({5, std::nanf("")}));
  CHECK(meter.range().low == -2);
  CHECK(meter.range().high == 5);
  CHECK(meter.not_finite() == 2);
}

TEST_CASE("a percentile leaves out its share at either end") {
  std::vector<float> values;
  for (int i = 0; i <= 1000; ++i) values.push_back(static_cast<float>(i) / 1000);
  const Histogram all = histogram_of(values, {0, 1}, false);
  const Range most = percentile_range(all, 90);
  CHECK(most.low == Approx(0.05).margin(2e-3));
  CHECK(most.high == Approx(0.95).margin(2e-3));
  CHECK(percentile_range(all, 100).low == 0);
  CHECK(percentile_range(all, 100).high == 1);
  const Histogram outlier = histogram_of({0, 0, 0, 0, 0, 0, 0, 0, 0, 1000}, {0, 1000}, false);
  CHECK(percentile_range(outlier, 80).high < 1);
  const Histogram nothing = histogram_of({2, 2}, {2, 2}, false);
  CHECK(percentile_range(nothing, 99).low == 2);
  CHECK(percentile_range(nothing, 99).high == 2);
}

TEST_CASE("the least divergence cuts off what is rare, and nothing of what is even") {
  std::vector<float> values = normal_numbers(200000, false);
  values.push_back(60);  // alone it would take nine tenths of the steps
  const Range range{-5, 60}, cut = entropy_range(histogram_of(values, range, true), range);
  CHECK(cut.high > 2);
  CHECK(cut.high < 8);
  CHECK(cut.low == Approx(-std::min(5.0, cut.high)));

  std::vector<float> even;
  for (int i = 0; i < 204800; ++i) even.push_back(static_cast<float>(i) / 204800);
  const Range all{0, 1}, kept = entropy_range(histogram_of(even, all, true), all);
  CHECK(kept.low == 0);
  CHECK(kept.high == Approx(1).margin(0.01));
}

TEST_CASE("values of one sign have all 256 steps on their side") {
  const std::vector<float> values = normal_numbers(200000, true);
  const Range range{0, 5}, cut = entropy_range(histogram_of(values, range, true), range);
  CHECK(cut.low == 0);
  CHECK(cut.high > 2);
  CHECK(cut.high <= 5);
  const Range none{0, 0};
  CHECK(entropy_range(histogram_of({0, 0}, none, true), none).high == 0);
}
}  // namespace ranges_test
