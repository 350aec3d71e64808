#include "tools/support/output.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tools/support/labels.h"
#include "tools/support/times.h"

namespace output_test {
using namespace svengine;
using namespace svengine::tool;

TEST_CASE("tables are aligned, in characters, without blanks at line ends") {
  Table table({"name", "n"}, {Table::Align::left, Table::Align::right});
  table.row({"größe", "7"});
  table.row({"x", "1000"});
  CHECK(table.text(" ") == " name      n\n größe     7\n x      1000\n");
  Table lines;
  lines.row({"a", ""});
  CHECK(lines.text() == "a\n");
}

TEST_CASE("numbers for people") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-123456) == "-123,456");
  CHECK(grouped(-1234567) == "-1,234,567");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(scaled(8.21e9) == "8.21 G");
  CHECK(scaled(117e6) == "117 M");
  CHECK(scaled(999.7) == "1.00 K");
  CHECK(scaled(12) == "12");
}

TEST_CASE("percentiles are times that were measured") {
  const TimeSummary one = summarise({5});
  CHECK((one.min == 5 && one.median == 5 && one.p90 == 5 && one.p99 == 5 && one.max == 5));
  std::vector<double> times;
  for (int i = 100; i > 0; --i) times.push_back(i);
  const TimeSummary hundred = summarise(times);
  CHECK(hundred.median == 50.5);
  CHECK(hundred.p90 == 90);
  CHECK(hundred.p99 == 99);
  CHECK(hundred.sum == 5050);
  CHECK(hundred.mean == 50.5);
}

TEST_CASE("the best candidates, with probabilities") {
  const Tensor logits = Tensor::of<float>({2, 3}, {9, 9, 9, 0, 2, 0});
  const auto best = best_of(logits, 3, 3, 5);
  REQUIRE(best.size() == 3);
  CHECK((best[0].index == 1 && best[1].index == 0 && best[2].index == 2));
  CHECK(best[0].probability == Approx(std::exp(2.0) / (std::exp(2.0) + 2)));
  const auto given = best_of(Tensor::of<float>({3}, {0.25f, 0.75f, 0}), 0, 3, 1);
  CHECK(given[0].probability == 0.75);
  const auto with_nan = best_of(Tensor::of<float>({3}, {NAN, -5, 2}), 0, 3, 3);
  CHECK((with_nan[0].index == 2 && with_nan[2].index == 0));
  CHECK(label_of({"cat"}, 0) == "cat");
  CHECK(label_of({"cat"}, 1) == "class 1");
}
}  // namespace output_test
