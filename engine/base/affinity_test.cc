#include "engine/base/affinity.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <thread>

namespace affinity_test {
using namespace svengine;

namespace {

/// A system built for 4096 cpus, of which this process may use 3 and 1500 and 2047.
int of_a_large_machine(size_t bytes, unsigned long* mask) {
  constexpr size_t kBytes = 4096 / 8;
  if (bytes < kBytes) return -1;
  std::memset(mask, 0, bytes);
  for (size_t cpu : {3u, 1500u, 2047u}) mask[cpu / 64] |= 1ul << cpu % 64;
  return kBytes;
}

int silent(size_t, unsigned long*) { return -1; }

}  // namespace

TEST_CASE("cpus beyond the thousandth are found") {
  CHECK(allowed_cpus(of_a_large_machine) == std::vector<int>{3, 1500, 2047});
  CHECK(allowed_cpus(silent) == std::vector<int>{0});
}

TEST_CASE("a thread runs where it is bound") {
  const std::vector<int> cpus = allowed_cpus();
  REQUIRE_FALSE(cpus.empty());
  CHECK(std::ranges::is_sorted(cpus));
  std::thread([&] {
    bind_thread({});
    CHECK(allowed_cpus() == cpus);
    const int none[] = {-1};
    bind_thread(none);
    CHECK(allowed_cpus() == cpus);
    bind_thread({&cpus.back(), 1});
    CHECK(allowed_cpus() == std::vector<int>{cpus.back()});
  }).join();
  CHECK(allowed_cpus() == cpus);
}
}  // namespace affinity_test
