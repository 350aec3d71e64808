#include "runtime/float_mode.h"

#include <catch2/catch.hpp>
#include <cfenv>
#include <limits>

namespace float_mode_test {
using namespace svengine;

namespace {

/// Half of the smallest normal number: a subnormal, or 0 where they are flushed. Volatile keeps the compiler from computing it.
float half_of_smallest() {
  volatile float smallest = std::numeric_limits<float>::min(), half = 0.5f;
  volatile float result = smallest * half;
  return result;
}

float third() {
  volatile float one = 1, three = 3;
  volatile float result = one / three;
  return result;
}

}  // namespace

TEST_CASE("flushing lasts as long as the object and the caller's mode returns") {
  const FloatMode::Registers before = FloatMode::registers();
  {
    const FloatMode outer(false);
    CHECK(half_of_smallest() > 0);
    const FloatMode mode(true);
    CHECK(half_of_smallest() == 0);
    {
      const FloatMode inner(false);
      CHECK(half_of_smallest() > 0);
    }
    CHECK(half_of_smallest() == 0);
  }
  CHECK(FloatMode::registers() == before);
}

TEST_CASE("the caller's rounding and flags return, and mean nothing inside") {
  const float nearest = third();
  std::fesetround(FE_UPWARD);
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(FE_DIVBYZERO);
  const FloatMode::Registers before = FloatMode::registers();
  float inside = 0;
  {
    const FloatMode mode(true);
    inside = third();  // raises FE_INEXACT
    volatile float zero = 0;
    volatile float nan = zero / zero;  // and FE_INVALID
    (void)nan;
  }
  const FloatMode::Registers after = FloatMode::registers();
  const int flags = std::fetestexcept(FE_ALL_EXCEPT), rounding = std::fegetround();
  std::fesetround(FE_TONEAREST);
  std::feclearexcept(FE_ALL_EXCEPT);
  CHECK(inside == nearest);
  CHECK(after == before);
  CHECK(flags == FE_DIVBYZERO);
  CHECK(rounding == FE_UPWARD);
}
}  // namespace float_mode_test
