// Which thread runs which tasks of a step. Every thread has a contiguous share: it meets the same rows again in the next step, in
// its own caches and its own core group's memory. That is all in groups of many threads. In groups of few, whose cores are often
// shared with others (virtual machines, login nodes, a core's second thread) and so not equally fast, a thread without work takes
// some from the end of another's share:
//
//      share of thread 0   |-------1/2-------|--1/4---|-1/8|...       its owner takes half of what is left from the front,
//      share of thread 1   |-------1/2-------|--1/4---| ... |- 0 -|   others a quarter from the back
//
// Results do not depend on it: which thread runs a task is nothing to the task.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/memory.h"
#include "runtime/task_range.h"
#include "runtime/topology.h"

namespace svengine {

/// Of one team. A thread deals itself the tasks of a step before the barrier of the step before or, those of the first, before it
/// takes any; at the end of a run every share must be used up or dropped.
class WorkQueues {
 public:
  explicit WorkQueues(const Topology& topology);

  /// Gives `thread` its share of step `step`, which has `tasks` of them.
  void push(int thread, size_t step, int64_t tasks);
  /// What `thread` is to run next of step `step`: of its own share, then of others'; empty when nothing is left. Ranges have at
  /// least `grain` tasks where the share had.
  TaskRange pop_or_steal(int thread, size_t step, int64_t tasks, int64_t grain);
  /// Forgets what `thread` was dealt.
  void clear(int thread);

 private:
  /// Two steps at a time: some threads look for what is left of one when others are dealt the next.
  struct alignas(kCacheLine) Share {
    std::atomic<uint64_t> left[2]{};  // begin and end are halves of the word
    TaskRange whole[2];  // what nobody else may take: the owner's only
  };
  struct Group {
    int first = 0, threads = 0;
  };
  bool helps(int thread, int64_t tasks) const;

  std::vector<Group> groups_;  // of every thread
  std::unique_ptr<Share[]> shares_;
};

}  // namespace svengine
