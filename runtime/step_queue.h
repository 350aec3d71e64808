// The steps of a run, done by those threads of a small group that are there.
//
// A barrier waits for every thread, also for one that the system has taken off its processor: beside other programs that happens all the
// time, and a network of hundreds of steps then takes as many time slices. Here a step ends when all of its tasks are done, and only
// those who do them are waited for. A thread that comes back joins in where the others are:
//
//     thread 0   | step 0, half | step 1, half | step 2, all | step 3, all | step 4, half |
//     thread 1   | step 0, half | step 1, half |     (off its processor)   | step 4, half |
//
// Whoever does a step's last task opens the next one: it gives every thread its share (task_range.h), which others help with.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/memory.h"
#include "runtime/task_range.h"

namespace svengine {

class StepQueue {
 public:
  static constexpr int64_t kMostSteps = UINT16_MAX, kMostTasks = (1 << 24) - 1;

  /// `spins`: see spin_wait.h.
  StepQueue(int threads, int spins);

  /// Opens a step that has `tasks` tasks, or none where it is the end of the run. Called before the threads start, and then by the one
  /// for whom finish() is true.
  void open(int64_t step, int64_t tasks);
  /// The step that is open. All that earlier ones wrote is visible.
  int64_t current() const { return step_.load(std::memory_order_acquire); }
  /// What `thread` is to run next of `step`; empty when nothing is left or the step is over.
  TaskRange take(int thread, int64_t step, int64_t tasks, int64_t grain);
  /// `count` tasks of the open step are done; true when these were the last.
  bool finish(int64_t count);
  /// Waits until another step than `step` is open, and gives it.
  int64_t wait_beyond(int64_t step) const;

 private:
  /// What is left of a thread's share, and of which step: begin and end have 24 bits each, the step 16, which a run does not use up.
  struct alignas(kCacheLine) Share {
    std::atomic<uint64_t> left{0};
  };
  int threads_, spins_;
  std::unique_ptr<Share[]> shares_;
  alignas(kCacheLine) std::atomic<int64_t> step_{0};
  alignas(kCacheLine) std::atomic<int64_t> undone_{0};  // tasks of the open step
};

}  // namespace svengine
