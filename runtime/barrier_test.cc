#include "runtime/barrier.h"

#include <omp.h>

#include <catch2/catch.hpp>

namespace barrier_test {
using namespace svengine;

namespace {

/// Every thread writes its round before the barrier; after it, every thread must see all the others' rounds.
int mismatches(const std::string& text, int rounds) {
  const Topology topology = parse_topology(text).value();
  const int threads = topology.threads();
  Barrier barrier(topology, true);
  std::vector<int> round_of(static_cast<size_t>(threads), -1);  // plain memory: the barrier alone orders it
  int wrong = 0;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
  {
    const int me = omp_get_thread_num();
    for (int r = 0; r < rounds; ++r) {
      round_of[static_cast<size_t>(me)] = r;
      barrier.wait(me);
      for (int value : round_of) wrong += value != r;
      barrier.wait(me);
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("nobody leaves the barrier before everybody has come") {
  omp_set_dynamic(0);
  CHECK(mismatches("1x1", 50) == 0);
  CHECK(mismatches("1x2", 50) == 0);
  CHECK(mismatches("3x1", 50) == 0);
  CHECK(mismatches("2x3", 50) == 0);
  CHECK(mismatches("4x12", 10) == 0);
}
}  // namespace barrier_test
