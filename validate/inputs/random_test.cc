#include "validate/inputs/random.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace random_test {
using svengine::validate::Random;

TEST_CASE("random numbers are a function of seed, stream and position") {
  const Random random(1, 2);
  CHECK(random.bits(5) == Random(1, 2).bits(5));
  CHECK(random.bits(5) != random.bits(6));
  CHECK(random.bits(5) != Random(2, 2).bits(5));
  CHECK(random.bits(5) != Random(1, 3).bits(5));
  CHECK(Random(1, 2).bits(0) != Random(2, 1).bits(0));
  // Files written with a seed must not change with the program's version or the machine.
  CHECK(Random(1, 0).bits(0) == 0xb18a02f46d8d86c3);
}

TEST_CASE("moments and ranges are those of the distributions") {
  constexpr uint64_t kCount = 20000;
  const Random random(7, 0);
  double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0;
  int64_t below[10] = {};
  for (uint64_t i = 0; i < kCount; ++i) {
    const double u = static_cast<double>(random.uniform(i)), n = static_cast<double>(random.normal(i));
    REQUIRE((u >= 0 && u < 1));
    REQUIRE(std::abs(n) < 3.47);
    sum += u, squares += u * u, normal_sum += n, normal_squares += n * n;
    const int64_t b = random.below(i, 10);
    REQUIRE((b >= 0 && b < 10));
    ++below[b];
  }
  // Five standard errors.
  CHECK(std::abs(sum / kCount - 0.5) < 5 * std::sqrt(1.0 / 12 / kCount));
  CHECK(std::abs(squares / kCount - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / kCount));
  CHECK(std::abs(normal_sum / kCount) < 5 * std::sqrt(1.0 / kCount));
  CHECK(std::abs(normal_squares / kCount - 1) < 5 * std::sqrt(2.0 / kCount));
  for (int64_t n : below) CHECK(std::abs(static_cast<double>(n) - kCount / 10.0) < 5 * std::sqrt(kCount * 0.09));
}
}  // namespace random_test
