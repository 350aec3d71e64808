// Walks a plan with a team of threads.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "runtime/arena_memory.h"
#include "runtime/barrier.h"
#include "runtime/topology.h"

namespace svengine {

/// The threads' side of a session: OpenMP supplies the threads, so OMP_PLACES, OMP_PROC_BIND, cpusets and numactl work as
/// everywhere. One run at a time per team.
class Team {
 public:
  explicit Team(Topology topology, bool flush_denormals = true);
  int threads() const { return threads_; }
  const Topology& topology() const { return topology_; }
  bool flush_denormals() const { return flush_denormals_; }
  Barrier& barrier() { return barrier_; }

 private:
  Topology topology_;
  int threads_;
  bool flush_denormals_;
  Barrier barrier_;
};

/// Time of every step of a plan, summed over runs, in nanoseconds.
struct StepTimes {
  std::vector<int64_t> nanoseconds;
  int64_t runs = 0;
};

/// The memory of runs of one plan: arena, scratch, and the table of base addresses. One run at a time.
class RunState {
 public:
  static Result<std::unique_ptr<RunState>> create(std::shared_ptr<const Plan> plan, const Team& team);

  const Plan& plan() const { return *plan_; }
  std::shared_ptr<const Plan> shared_plan() const { return plan_; }
  PageKind page_kind() const { return arena_.kind(); }
  void bind_input(size_t index, const void* data);
  void bind_output(size_t index, void* data);

  /// Runs the plan on the bound tensors. Allocates nothing. `times`, when given, has an entry for every step.
  Status run(Team& team, StepTimes* times = nullptr);

 private:
  RunState() = default;
  struct Shared;
  void walk(Team& team, int thread, Shared& shared, StepTimes* times);

  std::shared_ptr<const Plan> plan_;
  ArenaMemory arena_;
  ArenaMemory scratch_;
  std::vector<std::byte*> bases_;
  std::vector<int32_t> input_slots_, output_slots_;
};

}  // namespace svengine
