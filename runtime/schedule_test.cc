#include "runtime/schedule.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace schedule_test {
using namespace svengine;
using Catch::Matchers::Contains;

namespace {

Schedule parse(const std::string& text) {
  Result<Schedule> schedule = Schedule::parse(text);
  if (!schedule.ok()) FAIL(schedule.error().message());
  return std::move(schedule).value();
}

std::string problem(const std::string& text) {
  const Result<Schedule> schedule = Schedule::parse(text);
  if (schedule.ok()) FAIL(text << " should be refused");
  return schedule.error().message();
}

/// Compares every step with a closed form.
template <class Form>
void check(const std::string& text, int64_t steps, int64_t steps_per_epoch, const Form& form) {
  CAPTURE(text);
  const Schedule schedule = parse(text);
  for (int64_t s = 0; s < steps; ++s) {
    CAPTURE(s);
    REQUIRE(schedule.rate(0.5, s, steps_per_epoch) == Approx(0.5 * form(static_cast<double>(s))).epsilon(1e-12).margin(1e-15));
  }
}

}  // namespace

TEST_CASE("schedules follow their closed forms") {
  check("constant", 50, 10, [](double) { return 1.0; });
  check("step:every=3", 100, 10, [](double s) { return std::pow(0.1, std::floor(s / 30)); });
  check("step:every_steps=7,factor=0.5", 100, 10, [](double s) { return std::pow(0.5, std::floor(s / 7)); });
  check("step:at=2;5;6,factor=0.2", 100, 10, [](double s) { return s < 20 ? 1.0 : s < 50 ? 0.2 : s < 60 ? 0.04 : 0.008; });
  check("step:at_steps=2;5", 10, 10, [](double s) { return s < 2 ? 1.0 : s < 5 ? 0.1 : 0.01; });
  check("cosine:epochs=9", 120, 10, [](double s) { return (1 + std::cos(M_PI * std::min(1.0, s / 90))) / 2; });
  check("cosine:steps=90,final=0.1", 120, 7, [](double s) { return 0.1 + 0.45 * (1 + std::cos(M_PI * std::min(1.0, s / 90))); });
  check("linear:epochs=3", 40, 10, [](double s) { return std::max(0.0, 1 - s / 30); });
  check("linear:epochs=3,final=0.2,power=2", 40, 10, [](double s) { return 0.2 + 0.8 * std::pow(std::max(0.0, 1 - s / 30), 2); });
  check("noam:width=512,warmup_steps=40", 200, 10,
        [](double s) { return std::pow(512, -0.5) * std::min(std::pow(s + 1, -0.5), (s + 1) * std::pow(40, -1.5)); });
}

TEST_CASE("a warm-up rises to the base rate and hands over without a jump") {
  check("constant:warmup=2", 40, 10, [](double s) { return std::min(1.0, (s + 1) / 20); });
  check("constant:warmup_steps=4,from=0.2", 10, 10, [](double s) { return s < 4 ? 0.2 + 0.8 * (s + 1) / 4 : 1; });
  check("cosine:epochs=9,warmup=1.5", 120, 10,
        [](double s) { return s < 15 ? (s + 1) / 15 : (1 + std::cos(M_PI * std::min(1.0, (s - 15) / 75))) / 2; });
  check("linear:steps=30,warmup_steps=10", 40, 3,
        [](double s) { return s < 10 ? (s + 1) / 10 : std::max(0.0, 1 - (s - 10) / 20); });
  check("step:at=2,warmup=1", 40, 10, [](double s) { return s < 10 ? (s + 1) / 10 : s < 20 ? 1 : 0.1; });
  const Schedule short_one = parse("constant:warmup=0.001");  // no less than a step
  CHECK(short_one.factor(0, 10) == 1);
  // A warm-up in steps that outlasts the epochs: the rate ends where the schedule ends.
  const Schedule outlasting = parse("cosine:epochs=1,warmup_steps=50,final=0.3");
  CHECK(outlasting.factor(49, 10) == 1);
  CHECK(outlasting.factor(50, 10) == Approx(0.3));
}

TEST_CASE("what a text leaves out is filled in, and equal schedules have equal texts") {
  CHECK(parse("constant").text() == "constant");
  CHECK(Schedule().text() == "constant");
  CHECK(parse("cosine:warmup=5,epochs=90").text() == "cosine:epochs=90,final=0,warmup=5,from=0");
  CHECK(parse("step:at=30;60.5").text() == "step:at=30;60.5,factor=0.1");
  for (const char* text : {"step:every_steps=7,factor=0.5,warmup_steps=3,from=0.1", "linear:steps=30,final=0.25,power=2",
                           "noam:width=512,warmup_steps=4000"}) {
    CHECK(parse(text).text() == text);
    CHECK(parse(parse(text).text()).text() == text);
  }
}

TEST_CASE("texts that are no schedule are refused with what would be one") {
  CHECK_THAT(problem("cosin"), Contains("no schedule is called 'cosin'; there are: constant, step, cosine, linear, noam"));
  CHECK_THAT(problem(""), Contains("no schedule is called ''"));
  CHECK_THAT(problem("cosine"), Contains("'epochs' or 'steps' is missing"));
  CHECK_THAT(problem("cosine:"), Contains("'' is no key=value"));
  CHECK_THAT(problem("cosine:epochs"), Contains("'epochs' is no key=value"));
  CHECK_THAT(problem("cosine:epochs=90,every=3"), Contains("schedule 'cosine' has no 'every'; it has: epochs, steps, final"));
  CHECK_THAT(problem("cosine:epochs=90,epochs=80"), Contains("'epochs' is given twice"));
  CHECK_THAT(problem("cosine:epochs=90,steps=80"), Contains("only one of 'epochs' and 'steps'"));
  CHECK_THAT(problem("cosine:epochs=ninety"), Contains("'epochs=ninety' is no number"));
  CHECK_THAT(problem("cosine:epochs=90x"), Contains("is no number"));
  CHECK_THAT(problem("cosine:epochs=0"), Contains("'epochs=0' is not between"));
  CHECK_THAT(problem("cosine:epochs=nan"), Contains("is not between"));
  CHECK_THAT(problem("cosine:epochs=inf"), Contains("is not between"));
  CHECK_THAT(problem("cosine:epochs=5,warmup=5"), Contains("does not end before"));
  CHECK_THAT(problem("constant:warmup=-1"), Contains("is not between 0 and"));
  CHECK_THAT(problem("step"), Contains("'every' or 'every_steps' is missing"));
  CHECK_THAT(problem("step:every=3,at=4"), Contains("not both"));
  CHECK_THAT(problem("step:at=4;4"), Contains("do not rise"));
  CHECK_THAT(problem("step:at=4;"), Contains("'at=' is no number"));
  CHECK_THAT(problem("step:at=4,at_steps=5"), Contains("only one of 'at'"));
  CHECK_THAT(problem("noam:width=512"), Contains("needs 'width' and 'warmup_steps'"));
  CHECK_THAT(problem("noam:width=512,warmup_steps=0"), Contains("is not between 1"));
  CHECK_THAT(problem("linear:epochs=1,power=0"), Contains("is not between"));
}
}  // namespace schedule_test
