#include "runtime/step_queue.h"

#include <omp.h>

#include <catch2/catch.hpp>
#include <vector>

#include "runtime/spin_wait.h"

namespace step_queue_test {
using namespace svengine;

namespace {

constexpr int kSteps = 400;

int64_t tasks_of(int64_t step) { return step < kSteps ? 1 + step * 37 % 101 : 0; }

struct Counts {
  std::vector<std::vector<std::atomic<int>>> of;
  Counts() : of(kSteps) {
    for (int64_t s = 0; s < kSteps; ++s) of[static_cast<size_t>(s)] = std::vector<std::atomic<int>>(static_cast<size_t>(tasks_of(s)));
  }
  /// Tasks that did not run exactly once.
  int wrong() const {
    int n = 0;
    for (const auto& step : of)
      for (const std::atomic<int>& count : step) n += count != 1;
    return n;
  }
};

/// A thread's part of a run; `pause` is called between looking at a step and taking from it.
template <class Pause>
void walk(StepQueue& queue, Counts& counts, std::atomic<int>& out_of_turn, int thread, const Pause& pause) {
  for (int64_t i = queue.current(); i < kSteps; i = queue.wait_beyond(i)) {
    pause(i);
    int64_t done = 0;
    const auto next = [&] { return queue.take(thread, i, tasks_of(i), 1 + i % 3); };
    for (TaskRange r = next(); !r.empty(); r = next()) {
      for (int64_t t = r.begin; t < r.end; ++t) ++counts.of[static_cast<size_t>(i)][static_cast<size_t>(t)];
      done += r.end - r.begin;
      if (queue.current() != i) ++out_of_turn;  // nobody may open the next step before these are finished
    }
    if (done > 0 && queue.finish(done)) queue.open(i + 1, tasks_of(i + 1));
  }
}

}  // namespace

TEST_CASE("every task of every step runs once, in its step, whoever comes late") {
  omp_set_dynamic(0);
  for (int threads : {1, 2, 3, 8}) {
    StepQueue queue(threads, spins_before_yield(true));
    for (int run = 0; run < 3; ++run) {
      Counts counts;
      std::atomic<int> out_of_turn{0};
      queue.open(0, tasks_of(0));
#pragma omp parallel num_threads(threads)
      {
        const int me = omp_get_thread_num();
        walk(queue, counts, out_of_turn, me, [me](int64_t step) {
          for (int i = 0; (step + me) % 7 == 0 && i < 5; ++i) sched_yield();
        });
      }
      CHECK(counts.wrong() == 0);
      CHECK(out_of_turn == 0);
    }
  }
}

TEST_CASE("threads that never come are not waited for") {
  StepQueue queue(4, spins_before_yield(true));
  Counts counts;
  std::atomic<int> out_of_turn{0};
  queue.open(0, tasks_of(0));
  walk(queue, counts, out_of_turn, 2, [](int64_t) {});
  CHECK(counts.wrong() == 0);
}

TEST_CASE("nothing of a step that is over can be taken") {
  StepQueue queue(2, spins_before_yield(true));
  queue.open(0, 64);
  CHECK(queue.take(0, 0, 64, 1).begin == 0);
  CHECK(queue.take(0, 1, 64, 1).empty());
  queue.open(1, 64);  // the same shares, of another step
  CHECK(queue.take(0, 0, 64, 1).empty());
  CHECK(queue.take(1, 1, 64, 1).begin == 32);
}
}  // namespace step_queue_test
