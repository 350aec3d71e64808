#include "tests/support/guarded_buffer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>

namespace svengine::tests {
namespace {

// True when touching `at` kills a process with a memory fault.
template <class T>
bool faults(const T* at) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);  // the test runner's own handler would report and go on
    signal(SIGBUS, SIG_DFL);
    const volatile T value = *at;
    (void)value;
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
}

TEMPLATE_TEST_CASE("a guarded buffer faults on either side of its place", "[support]", float, double, uint8_t,
                   int64_t) {
  using Buffer = GuardedBuffer<TestType>;
  for (const size_t count : {size_t{0}, size_t{1}, size_t{17}, size_t{4096 / sizeof(TestType)}, size_t{5000}}) {
    Buffer at_end(count);
    CHECK(faults(at_end.end()));
    Buffer at_start(count, Buffer::Place::kStart);
    CHECK(faults(at_start.begin() - 1));
    if (count > 0) {
      CHECK_FALSE(faults(at_end.end() - 1));
      CHECK_FALSE(faults(at_start.begin()));
    }
  }
}

TEST_CASE("surroundings of a guarded buffer remember a stray write", "[support]") {
  GuardedBuffer<float> buffer(10);
  CHECK(buffer.intact());
  CHECK(buffer.poisoned(3));
  for (float& x : buffer) x = 1;
  CHECK_FALSE(buffer.poisoned(3));
  CHECK(buffer.intact());
  buffer.data()[-1] = 1;
  CHECK_FALSE(buffer.intact());

  GuardedBuffer<int32_t> front(10, GuardedBuffer<int32_t>::Place::kStart);
  CHECK(front.intact());
  front.data()[10] = 0;
  CHECK_FALSE(front.intact());
}

TEST_CASE("poison holds NaN, infinity and subnormals", "[support]") {
  GuardedBuffer<float> buffer(64);
  int nan = 0, infinite = 0, subnormal = 0;
  for (const float x : buffer) {
    nan += std::isnan(x);
    infinite += std::isinf(x);
    subnormal += std::fpclassify(x) == FP_SUBNORMAL;
  }
  CHECK(nan > 0);
  CHECK(infinite > 0);
  CHECK(subnormal > 0);
}

}  // namespace
}  // namespace svengine::tests
