#include "runtime/topology.h"

#include <catch2/catch.hpp>

namespace topology_test {
using namespace svengine;

TEST_CASE("a given topology has groups of consecutive threads") {
  const Topology t = parse_topology("4x12").value();
  CHECK(t.threads() == 48);
  CHECK(t.group_of(0) == 0);
  CHECK(t.group_of(11) == 0);
  CHECK(t.group_of(12) == 1);
  CHECK(t.group_of(47) == 3);
}

TEST_CASE("what is no topology is refused") {
  for (const char* text : {"", "x", "4", "4x", "x12", "0x3", "4x0", "-1x2", "4x12x2", "4 x 12", "99999999999x1", "4096x4096"})
    CHECK_FALSE(parse_topology(text).ok());
}

TEST_CASE("the found topology has exactly the threads asked for, in groups that have cpus") {
  for (int threads : {1, 2, 3, 48}) {
    const Topology t = detect_topology(threads);
    CHECK(t.threads() == threads);
    for (const CoreGroup& g : t.groups) CHECK_FALSE(g.cpus.empty());
  }
}
}  // namespace topology_test
