#include "runtime/train/deadline.h"

#include <catch2/catch.hpp>

namespace deadline_test {
using namespace svengine;

TEST_CASE("a deadline leaves time for a step and a checkpoint") {
  CHECK_FALSE(Deadline().due(1e18));
  Deadline deadline(1000, 100);  // until 1100
  CHECK_FALSE(deadline.due(1089));
  CHECK(deadline.due(1090));  // a tenth of the limit, as nothing was timed
  deadline.step_took(3);
  deadline.step_took(1);
  CHECK(deadline.due(1084));
  CHECK_FALSE(deadline.due(1083));
  deadline.save_took(5);
  CHECK(deadline.due(1084));
  CHECK_FALSE(deadline.due(1083.9));
  Deadline quick(0, 100);
  quick.save_took(0.001);
  CHECK(quick.due(99));
  CHECK_FALSE(quick.due(98.9));
  CHECK(Deadline(0, 0.5).due(0));
}
}  // namespace deadline_test
