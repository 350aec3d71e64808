#include "tools/support/stop.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace stop_test {
using namespace svengine::tool;
using Catch::Matchers::Contains;

TEST_CASE("signals are noted, the first is told, and what was there before comes back") {
  REQUIRE(std::signal(SIGTERM, SIG_IGN) != SIG_ERR);
  {
    const StopSignals signals;
    CHECK(signals.received() == nullptr);
    std::raise(SIGUSR1);
    CHECK(std::string(signals.received()) == "SIGUSR1");
    std::raise(SIGTERM);
    std::raise(SIGTERM);
    CHECK(std::string(signals.received()) == "SIGUSR1");
  }
  CHECK(std::signal(SIGTERM, SIG_DFL) == SIG_IGN);
  const StopSignals again;
  CHECK(again.received() == nullptr);
}

TEST_CASE("a second SIGINT ends the process") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const StopSignals signals;
    std::raise(SIGINT);
    if (!signals.received()) _exit(1);
    std::raise(SIGINT);
    _exit(2);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT));
}

TEST_CASE("durations as people and batch systems write them") {
  const auto seconds = [](const char* text) { return parse_duration(text).value(); };
  CHECK(seconds("90") == 90);
  CHECK(seconds("0.5") == 0.5);
  CHECK(seconds("90s") == 90);
  CHECK(seconds("45m") == 2700);
  CHECK(seconds("2h") == 7200);
  CHECK(seconds("1.5h") == 5400);
  CHECK(seconds("1h30m") == 5400);
  CHECK(seconds("1h2m3s") == 3723);
  CHECK(seconds("30:00") == 1800);
  CHECK(seconds("1:30:00") == 5400);
  CHECK(seconds("100:00:01") == 360001);
  for (const char* text :
       {"", ":", "h", "-5", "1m1h", "1h1h", "5x", "5 m", "1:60", "1:2:3:4", "1:", "0", "0:00", "1e3", "nan", "inf", "99999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).ok());
  }
  CHECK_THAT(parse_duration("soon").error().message(), Contains("'soon' is no duration; durations are 90, 90s"));
}
}  // namespace stop_test
