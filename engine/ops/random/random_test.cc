// Random operators: moments, what a seed repeats, and what no seed does not.
#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

#include "engine/ops/host_test_util.h"

namespace random_test {
using namespace svengine;
using namespace svengine::ops::tests;

namespace {

constexpr int64_t kMany = 100000;
using Extra = std::initializer_list<std::pair<const char*, Attribute>>;

template <class T>
void check_moments(const HostNode& drawn, double mean, double variance) {
  INFO(drawn.problem);
  const auto x = drawn.outputs[0].data<T>();
  REQUIRE(x.size() == static_cast<size_t>(kMany));
  double sum = 0, squares = 0;
  for (const T v : x) sum += static_cast<double>(v);
  for (const T v : x) squares += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  const double error = 5 * std::sqrt(variance / kMany);  // five deviations of the mean
  CHECK(std::fabs(sum / kMany - mean) < error);
  CHECK(squares / kMany == Approx(variance).epsilon(0.03));
}

HostNode drawn(const char* op, Extra attributes) { return {"", op, {}, attributes}; }

}  // namespace

TEST_CASE("Normal and uniform numbers have their moments, in float32 and float64") {
  const Attribute shape = std::vector<int64_t>{kMany}, seed = 3.0f, f64 = int64_t{11};
  check_moments<float>(drawn("RandomNormal", {{"shape", shape}, {"seed", seed}, {"mean", 2.0f}, {"scale", 3.0f}}), 2, 9);
  check_moments<double>(
      drawn("RandomNormal", {{"shape", shape}, {"seed", seed}, {"mean", 2.0f}, {"scale", 3.0f}, {"dtype", f64}}), 2, 9);
  check_moments<float>(drawn("RandomUniform", {{"shape", shape}, {"seed", seed}, {"low", -1.0f}, {"high", 3.0f}}), 1, 16.0 / 12);
  check_moments<double>(
      drawn("RandomUniform", {{"shape", shape}, {"seed", seed}, {"low", -1.0f}, {"high", 3.0f}, {"dtype", f64}}), 1, 16.0 / 12);
}

TEST_CASE("A seed repeats the numbers, none gives others, and other seeds, too") {
  const Attribute shape = std::vector<int64_t>{16};
  const auto numbers = [&](Extra seed) {
    std::vector<std::pair<const char*, Attribute>> all(seed);
    return all.empty() ? drawn("RandomNormal", {{"shape", shape}}).floats()
                       : drawn("RandomNormal", {{"shape", shape}, all[0]}).floats();
  };
  CHECK(numbers({{"seed", 1.0f}}) == numbers({{"seed", 1.0f}}));
  CHECK(numbers({{"seed", 1.0f}}) != numbers({{"seed", 2.0f}}));
  CHECK(numbers({}) != numbers({}));
  CHECK(drawn("RandomUniform", {{"shape", shape}, {"low", 1.0f}, {"high", 0.0f}}).says("needs low <= high"));
  CHECK(drawn("RandomNormal", {{"shape", shape}, {"dtype", int64_t{7}}}).says("attribute 'dtype' is 7 (int64), needs"));
}

TEST_CASE("Bernoulli and Multinomial draw by their probabilities") {
  std::vector<float> p(kMany, 0.3f);
  const Tensor input = Tensor::of<float>({kMany}, std::span<const float>(p));
  check_moments<float>(HostNode("", "Bernoulli", {input}, {{"seed", 4.0f}}), 0.3, 0.21);
  const float third = std::log(1.0f), two_thirds = std::log(2.0f);
  const HostNode classes("", "Multinomial", {Tensor::of<float>({1, 2}, {third, two_thirds})},
                         {{"seed", 4.0f}, {"sample_size", kMany}, {"dtype", int64_t{7}}});
  check_moments<int64_t>(classes, 2.0 / 3, 2.0 / 9);
  CHECK(HostNode("", "Multinomial", {Tensor::of<float>({1, 0}, {})}).says("there is no class to draw"));
}
}  // namespace random_test
