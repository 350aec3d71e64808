#include "engine/base/initializer.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

namespace initializer_test {
using namespace svengine;
using Catch::Matchers::Contains;

namespace {

struct Statistics {
  double mean = 0, deviation = 0, least = 0, most = 0;
};

Statistics statistics_of(const Initializer& how, const Dims& dims) {
  MutableTensor tensor = Tensor::allocate(DType::f32, dims).value();
  REQUIRE(initialize(how, RandomStream(1).at("w"), tensor).ok());
  const std::span<const float> values = tensor.data<float>();
  Statistics s{0, 0, *std::ranges::min_element(values), *std::ranges::max_element(values)};
  for (float v : values) s.mean += v / static_cast<double>(values.size());
  for (float v : values) s.deviation += (v - s.mean) * (v - s.mean) / static_cast<double>(values.size());
  s.deviation = std::sqrt(s.deviation);
  return s;
}

std::string problem(const Initializer& how, DType type = DType::f32, Dims dims = {2, 3}) {
  MutableTensor tensor = Tensor::allocate(type, dims).value();
  const Status status = initialize(how, RandomStream(1), tensor);
  REQUIRE_FALSE(status.ok());
  return status.error().message();
}

/// Even in +-bound: the bound itself is nearly reached, the deviation is bound / sqrt(3).
void check_even(const Statistics& s, double bound) {
  CHECK(s.mean == Approx(0).margin(0.02 * bound));
  CHECK(s.deviation == Approx(bound / std::sqrt(3.0)).epsilon(0.02));
  CHECK(s.least >= static_cast<float>(-bound));
  CHECK(s.most <= static_cast<float>(bound));
  CHECK(s.most > 0.999 * bound);
}

void check_normal(const Statistics& s, double mean, double deviation) {
  CHECK(s.mean == Approx(mean).margin(0.02 * deviation));
  CHECK(s.deviation == Approx(deviation).epsilon(0.02));
  CHECK(s.most > mean + 3 * deviation);
}

const Dims kConv{64, 48, 3, 3};  // fan-in 432, fan-out 576

}  // namespace

TEST_CASE("fans are those of the layouts") {
  const Fans conv = fans_of(kConv).value();
  CHECK(conv.in == 432);
  CHECK(conv.out == 576);
  const Fans product = fans_of({10, 30}, WeightLayout::input_first).value();
  CHECK(product.in == 10);
  CHECK(product.out == 30);
  CHECK_THAT(fans_of({5}).error().message(), Contains("shape 5 has no fan-in"));
  CHECK_THAT(fans_of({5, 0}).error().message(), Contains("a dimension is 0"));
}

TEST_CASE("values have the bounds and moments of their distribution") {
  check_even(statistics_of(Initializer::xavier_uniform(2), kConv), 2 * std::sqrt(6.0 / 1008));
  check_normal(statistics_of(Initializer::xavier_normal(), kConv), 0, std::sqrt(2.0 / 1008));
  check_even(statistics_of(Initializer::kaiming_uniform(), kConv), std::sqrt(6.0 / 432));
  check_normal(statistics_of(Initializer::kaiming_normal(), kConv), 0, std::sqrt(2.0 / 432));
  check_normal(statistics_of(Initializer::kaiming_normal(1, Initializer::Fan::out), kConv), 0, std::sqrt(1.0 / 576));
  Initializer input_first = Initializer::kaiming_normal(1);
  input_first.layout = WeightLayout::input_first;
  check_normal(statistics_of(input_first, kConv), 0, std::sqrt(1.0 / 576));
  check_even(statistics_of(Initializer::uniform(-0.5, 0.5), {100, 300}), 0.5);
  check_normal(statistics_of(Initializer::normal(1, 0.02), {30000}), 1, 0.02);
  const Statistics constant = statistics_of(Initializer::constant(0.25), {7});
  CHECK(constant.least == 0.25);
  CHECK(constant.most == 0.25);
}

TEST_CASE("a truncated normal distribution stays in its bounds") {
  const Statistics s = statistics_of(Initializer::truncated_normal(0, 0.02, -0.04, 0.04), {30000});
  CHECK(s.least >= -0.04f);
  CHECK(s.most <= 0.04f);
  // Variance of a normal distribution cut at 2 deviations: 1 - 4 phi(2) / (2 Phi(2) - 1) = 0.7737.
  CHECK(s.deviation == Approx(0.02 * std::sqrt(0.7737)).epsilon(0.02));
}

TEST_CASE("gains are those of PyTorch") {
  CHECK(gain_of("relu").value() == Approx(std::sqrt(2.0)));
  CHECK(gain_of("tanh").value() == Approx(5.0 / 3));
  CHECK(gain_of("leaky_relu", 0.2).value() == Approx(std::sqrt(2 / 1.04)));
  CHECK(gain_of("linear").value() == 1);
  CHECK_THAT(gain_of("step").error().message(), Contains("no gain is known for 'step'"));
}

TEST_CASE("what cannot be initialised is refused") {
  CHECK_THAT(problem(Initializer::constant(1), DType::i64), Contains("not for int64"));
  CHECK_THAT(problem(Initializer::uniform(2, 1)), Contains("from 2 to 1"));
  CHECK_THAT(problem(Initializer::uniform(-3e38, 3e38)), Contains("too wide"));
  CHECK_THAT(problem(Initializer::normal(0, -1)), Contains("cannot be negative"));
  CHECK_THAT(problem(Initializer::constant(std::nan(""))), Contains("finite"));
  CHECK_THAT(problem(Initializer::constant(1e39)), Contains("finite float32"));
  CHECK_THAT(problem(Initializer::kaiming_normal(-1)), Contains("gain"));
  CHECK_THAT(problem(Initializer::truncated_normal(0, 0, -1, 1)), Contains("above 0"));
  CHECK_THAT(problem(Initializer::truncated_normal(0, 1, 1, 2)), Contains("low <= mean <= high"));
  CHECK_THAT(problem(Initializer::xavier_uniform(), DType::f32, {3}), Contains("has no fan-in"));
}
}  // namespace initializer_test
