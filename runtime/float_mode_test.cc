#include "runtime/denormals.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace svengine;

namespace {

/// Half of the smallest normal number: a subnormal, or 0 where they are flushed. Volatile keeps the compiler from computing it.
float half_of_smallest() {
  volatile float smallest = std::numeric_limits<float>::min(), half = 0.5f;
  volatile float result = smallest * half;
  return result;
}

}  // namespace

TEST_CASE("flushing lasts as long as the object and the caller's mode returns") {
  const uint64_t before = DenormalMode::control_register();
  CHECK(half_of_smallest() > 0);
  {
    const DenormalMode mode(true);
    CHECK(half_of_smallest() == 0);
    {
      const DenormalMode inner(false);
      CHECK(half_of_smallest() > 0);
    }
    CHECK(half_of_smallest() == 0);
  }
  CHECK(half_of_smallest() > 0);
#if defined(__x86_64__)
  constexpr uint64_t kModeBits = ~uint64_t{0x3f};  // MXCSR's low bits are sticky exception flags
#else
  constexpr uint64_t kModeBits = ~uint64_t{0};
#endif
  CHECK((DenormalMode::control_register() & kModeBits) == (before & kModeBits));
}
