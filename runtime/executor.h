// Walks a plan with a team of threads.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "runtime/arena_memory.h"
#include "runtime/barrier.h"
#include "runtime/numa_copies.h"
#include "runtime/step_queue.h"
#include "runtime/work_stealing.h"
#include "runtime/topology.h"

namespace svengine {

/// The threads' side of a session: OpenMP supplies the threads, so OMP_PLACES, OMP_PROC_BIND, cpusets and numactl work as
/// everywhere. One run at a time per team.
class Team {
 public:
  /// `beside`: threads of other teams that run at the same time.
  explicit Team(Topology topology, bool flush_denormals = true, int beside = 0);
  int threads() const { return threads_; }
  const Topology& topology() const { return topology_; }
  bool flush_denormals() const { return flush_denormals_; }
  /// There are more threads than cpus, so that spinning steals from those being waited for.
  bool oversubscribed() const { return oversubscribed_; }
  Barrier& barrier() { return barrier_; }
  WorkQueues& work_queues() { return work_queues_; }

  /// Calls body(thread) on every thread of the team at once. Fails, having called nothing, when OpenMP gives fewer threads. Allocates nothing.
  template <class Body>
  Status run(const Body& body) const {
    return run_all([](const void* b, int thread) { (*static_cast<const Body*>(b))(thread); }, &body);
  }

 private:
  Status run_all(void (*call)(const void* body, int thread), const void* body) const;

  Topology topology_;
  int threads_;
  bool flush_denormals_, oversubscribed_;
  Barrier barrier_;
  WorkQueues work_queues_;
};

/// Time of every step of a plan, summed over runs, in nanoseconds.
struct StepTimes {
  std::vector<int64_t> nanoseconds;
};

/// Memory that plans of one team use in turn.
struct RunMemory {
  SharedArena arena, scratch;
};

/// The memory of runs of one plan: arena, scratch, and the table of base addresses. One run at a time: start(), then walk() on
/// every thread of the team, then finish().
class RunState {
 public:
  /// `numa_copies`, when given, supply the constants; those new to them are to be copied before the first run. `memory`: used in turn
  /// with other plans; null: memory of its own.
  static Result<std::unique_ptr<RunState>> create(std::shared_ptr<const Plan> plan, const Team& team, NumaCopies* numa_copies = nullptr,
                                                  RunMemory* memory = nullptr);

  const Plan& plan() const { return *plan_; }
  std::shared_ptr<const Plan> shared_plan() const { return plan_; }
  PageKind page_kind() const { return arena_->kind(); }
  void bind_input(size_t index, const void* data);
  void bind_output(size_t index, void* data);

  /// In builds that check contracts the arena is poisoned (kernels/contract.h).
  void start();
  /// Runs the thread's part of every step on the bound tensors. Allocates nothing. `times` (thread 0's) has an entry for every step.
  void walk(Team& team, int thread, StepTimes* times);
  /// The first failing step's message.
  Status finish() const;

 private:
  RunState() = default;
  void walk_alone(const Run& run, StepTimes* times);
  void walk_by_barrier(Team& team, const Run& run, int thread, StepTimes* times);
  void walk_by_queue(const Run& run, int thread, StepTimes* times);
  /// Runs tasks of a step and keeps what goes wrong.
  void run_tasks(const Run& run, int64_t step, TaskRange tasks);
  /// Opens the step after `step`, or ends the run.
  void open_next(int64_t step, StepTimes* times);

  static constexpr int64_t kNone = INT64_MAX;

  std::shared_ptr<const Plan> plan_;
  std::vector<std::shared_ptr<const std::byte>> copies_;  // of the plan's constants, in shard mode
  std::shared_ptr<const ArenaMemory> arena_, scratch_;
  std::unique_ptr<StepQueue> queue_;  // of small groups; null: barriers
  int64_t opened_ = 0;                // when the queue's step was opened, in nanoseconds
  std::vector<std::byte*> bases_;
  std::vector<int32_t> input_slots_, output_slots_;
  std::atomic<const char*> problem_{nullptr};  // the first bad task's message
  std::atomic<int64_t> failed_step_{kNone};    // its step, written after the message
};

}  // namespace svengine
