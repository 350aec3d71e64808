#include "engine/base/random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "engine/base/hash.h"

namespace random_test {
using namespace svengine;

namespace {

std::vector<float> normals(size_t count, float mean = 0, float deviation = 1) {
  std::vector<float> out(count);
  fill_normal(RandomStream(11), 0, mean, deviation, out);
  return out;
}

/// The k-th central moments, k = 1 .. 4; the first is the mean.
std::array<double, 4> moments(const std::vector<float>& values) {
  std::array<double, 4> out{};
  for (float v : values) out[0] += v;
  out[0] /= static_cast<double>(values.size());
  for (float v : values)
    for (int k = 2; k <= 4; ++k) out[static_cast<size_t>(k - 1)] += std::pow(v - out[0], k);
  for (size_t k = 1; k < 4; ++k) out[k] /= static_cast<double>(values.size());
  return out;
}

/// Kolmogorov's distance between the values and a distribution function, times sqrt(n): above 1.95 once in a thousand.
template <class Distribution>
double kolmogorov(std::vector<float> values, const Distribution& below) {
  std::ranges::sort(values);
  const double n = static_cast<double>(values.size());
  double most = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double p = below(values[i]);
    most = std::max({most, std::abs(p - static_cast<double>(i) / n), std::abs(p - static_cast<double>(i + 1) / n)});
  }
  return most * std::sqrt(n);
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// Every fill, cut in every way, must give what it gives in one piece.
template <class Fill>
void check_cuts(const Fill& fill) {
  std::vector<float> whole(41), parts(41);
  fill(7, std::span(whole));
  for (size_t piece = 1; piece < 12; ++piece) {
    std::ranges::fill(parts, -99.0f);
    for (size_t at = 0; at < parts.size(); at += piece)
      fill(7 + at, std::span(parts).subspan(at, std::min(piece, parts.size() - at)));
    REQUIRE(parts == whole);
  }
}

}  // namespace

TEST_CASE("Philox gives the known answers of its authors") {
  // Random123's tests/kat_vectors, lines "philox4x32 10".
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("values do not depend on how a range is cut") {
  const RandomStream stream(5);
  check_cuts([&](uint64_t first, std::span<float> out) { fill_uniform(stream, first, -1, 3, out); });
  check_cuts([&](uint64_t first, std::span<float> out) { fill_normal(stream, first, 1, 2, out); });
  check_cuts([&](uint64_t first, std::span<float> out) { fill_truncated_normal(stream, first, 1, 2, 0, 2.5f, out); });
  std::vector<float> values(9);
  fill_uniform(stream, 3, 0, 1, values);
  for (size_t i = 0; i < values.size(); ++i) CHECK(values[i] == stream.uniform(3 + i));
}

TEST_CASE("values are the same bits on every machine") {
  // Numbers of this implementation, kept so that x86-64 and A64FX are compared with one another.
  std::vector<float> values(100000);
  fill_uniform(RandomStream(1), 0, -0.3f, 0.7f, values);
  CHECK(hash64(std::as_bytes(std::span(values))) == 0x03678b515cdb0381);
  fill_normal(RandomStream(1), 0, 0.1f, 0.7f, values);
  CHECK(hash64(std::as_bytes(std::span(values))) == 0xe01378ed0b2dcc06);
  fill_truncated_normal(RandomStream(1), 0, 0, 1, -2, 2, values);
  CHECK(hash64(std::as_bytes(std::span(values))) == 0x3d0ea320a42ea54d);
  const std::vector<int64_t> order = permutation(RandomStream(1), 1000);
  CHECK(hash64(std::as_bytes(std::span(order))) == 0x46e32bc87bedb8ac);
}

TEST_CASE("uniform numbers fill their range evenly and never reach its end") {
  std::vector<float> values(100000);
  fill_uniform(RandomStream(3), 0, 0, 1, values);
  CHECK(std::ranges::max(values) < 1);
  CHECK(std::ranges::min(values) >= 0);
  CHECK(kolmogorov(values, [](double x) { return x; }) < 1.95);
  fill_uniform(RandomStream(3), 0, 1, std::nextafter(1.0f, 2.0f), values);  // only one value is allowed
  CHECK(std::ranges::max(values) == 1);
  fill_uniform(RandomStream(3), 0, 4, 4, values);
  CHECK(std::ranges::min(values) == 4);
}

TEST_CASE("normal numbers have the normal distribution and its moments") {
  const std::vector<float> values = normals(200000);
  const std::array<double, 4> m = moments(values);
  CHECK(m[0] == Approx(0).margin(0.01));
  CHECK(m[1] == Approx(1).margin(0.015));
  CHECK(m[2] == Approx(0).margin(0.03));
  CHECK(m[3] == Approx(3).margin(0.08));
  CHECK(kolmogorov(values, normal_below) < 1.95);
  CHECK(std::ranges::max(values) > 4);
  for (float v : values) REQUIRE(std::abs(v) < 6.67f);
  const std::vector<float> shifted = normals(200000, 5, 0.5f);
  for (size_t i = 0; i < 100; ++i) CHECK(shifted[i] == Approx(5 + 0.5 * values[i]).epsilon(1e-6));
}

TEST_CASE("normal numbers are Box and Muller's, as libm computes them") {
  const RandomStream stream(9);
  std::vector<float> values(4000);
  fill_normal(stream, 0, 0, 1, values);
  for (size_t i = 0; i < values.size(); i += 2) {
    const PhiloxCounter words = stream.block(i / 4);
    const double radius = std::sqrt(-2 * std::log((words[i % 4] + 1.0) / 4294967296.0)),
                 angle = 2 * M_PI * words[i % 4 + 1] / 4294967296.0;
    REQUIRE(values[i] == Approx(radius * std::cos(angle)).epsilon(1.2e-7).margin(1e-15));
    REQUIRE(values[i + 1] == Approx(radius * std::sin(angle)).epsilon(1.2e-7).margin(1e-15));
  }
}

TEST_CASE("a truncated normal distribution keeps its shape within its bounds") {
  struct Case {
    float mean, deviation, low, high;
  };
  for (const Case& c :
       {Case{0, 1, -2, 2}, Case{0, 1, -0.1f, 0.2f}, Case{2, 3, 2, 100}, Case{0, 0.02f, -0.04f, 0.04f}, Case{0, 1, 0, 1.9f}}) {
    CAPTURE(c.low, c.high);
    std::vector<float> values(20000);
    fill_truncated_normal(RandomStream(4), 0, c.mean, c.deviation, c.low, c.high, values);
    CHECK(std::ranges::min(values) >= c.low);
    CHECK(std::ranges::max(values) <= c.high);
    const double from = normal_below((c.low - c.mean) / c.deviation), to = normal_below((c.high - c.mean) / c.deviation);
    CHECK(kolmogorov(values, [&](double x) { return (normal_below((x - c.mean) / c.deviation) - from) / (to - from); }) < 1.95);
  }
}

TEST_CASE("numbers below a bound are even, also where the bound is no power of two") {
  const RandomStream stream(6);
  std::array<int, 7> counts{};
  for (uint64_t i = 0; i < 70000; ++i) ++counts[stream.below(7, i)];
  for (int n : counts) CHECK(std::abs(n - 10000) < 400);  // 4.3 deviations
  // Three quarters of 2^64: a draw in four is rejected, and without that the first third would come twice as often.
  const uint64_t bound = uint64_t{3} << 62;
  int low = 0;
  for (uint64_t i = 0; i < 30000; ++i) {
    const uint64_t value = stream.below(bound, i);
    REQUIRE(value < bound);
    low += value < (uint64_t{1} << 62);
  }
  CHECK(std::abs(low - 10000) < 350);
  CHECK(stream.below(1, 5) == 0);
}

TEST_CASE("permutations hold every number once, and each is equally likely") {
  for (int64_t n : {0, 1, 2, 3, 1000}) {
    std::vector<int64_t> order = permutation(RandomStream(2), n);
    std::ranges::sort(order);
    REQUIRE(order.size() == static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) REQUIRE(order[static_cast<size_t>(i)] == i);
  }
  std::map<std::vector<int64_t>, int> seen;
  for (uint64_t seed = 0; seed < 24000; ++seed) ++seen[permutation(RandomStream(seed), 4)];
  CHECK(seen.size() == 24);
  for (const auto& [order, count] : seen) CHECK(std::abs(count - 1000) < 140);  // 4.5 deviations
}

TEST_CASE("streams of other seeds, numbers and names are others") {
  const RandomStream root(1);
  std::set<uint64_t> first;
  for (const RandomStream& s : {root, RandomStream(2), RandomStream(uint64_t{1} << 32), root.at(0), root.at(1),
                                root.at(uint64_t{1} << 32), root.at("a"), root.at("b"), root.at("a").at("b"), root.at(0).at(0)}) {
    const PhiloxCounter words = s.block(0);
    first.insert(static_cast<uint64_t>(words[0]) << 32 | words[1]);
  }
  CHECK(first.size() == 10);
  CHECK(root.at("a").block(3) == RandomStream(1).at("a").block(3));
}
}  // namespace random_test
