#include "tools/support/compare_report.h"

#include <catch2/catch.hpp>

namespace compare_report_test {
using namespace svengine;
using namespace svengine::tool;

TEST_CASE("a network that is wrong only as a whole fails, and nobody's node is blamed") {
  validate::CompareReport report;
  validate::Difference right;
  right.count = 4;
  validate::Difference wrong = right;
  wrong.over = 2;
  wrong.worst = 1, wrong.largest = 2;
  report.outputs = {{"y", right, true, right}, {"z", {}, false, wrong}};
  CHECK(report.steps_passed());
  CHECK_FALSE(report.passed());
  const std::string text = compare_text(report, {}, 10);
  CHECK_THAT(text, Catch::Matchers::Contains("FAIL: every step is right, the network run whole is not"));
  CHECK_THAT(text, Catch::Matchers::Contains("  pass  y") && Catch::Matchers::Contains("  FAIL  z"));
  report.outputs[1].whole = right;
  CHECK(report.passed());
  report.outputs[0].whole.reset(), report.outputs[1].whole.reset();
  CHECK(report.passed());
  CHECK_THAT(compare_text(report, {}, 10), !Catch::Matchers::Contains("whole"));
}
}  // namespace compare_report_test
