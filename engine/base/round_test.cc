#include "engine/base/round.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>

namespace round_test {
using namespace svengine;

TEST_CASE("division and multiples, rounded upwards") {
  CHECK(ceil_div(0, 3) == 0);
  CHECK(ceil_div(int64_t{6}, 3) == 2);
  CHECK(ceil_div(int64_t{7}, 3) == 3);
  CHECK(ceil_div(INT64_MAX, 2) == INT64_MAX / 2 + 1);  // adding first would overflow
  CHECK(round_up(size_t{0}, 256) == 0);
  CHECK(round_up(size_t{257}, 256) == 512);
  CHECK(round_up(INT64_MAX - 255, 256) == INT64_MAX - 255);
}
}  // namespace round_test
