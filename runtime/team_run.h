// A plan, or a plan for every shard of the batch, with the memory to run it and its place in the team.
#pragma once
#include <memory>
#include <vector>

#include "runtime/batch_parallel.h"

namespace svengine {

class TeamRun {
 public:
  /// All threads on one plan, in memory of its own (null) or used in turn with others.
  static Result<TeamRun> whole(std::shared_ptr<const Plan> plan, Team& team, RunMemory* memory);

  /// plans[g] is group g's for its rows of `batch`; null when there are none for it, which the first group always has. Copies
  /// the weights that the groups do not have yet.
  static Result<TeamRun> batch_parallel(const std::vector<std::shared_ptr<const Plan>>& plans, int64_t batch, Team& team,
                                        BatchParallel& batch_parallel);

  /// Outputs of the whole batch, in order, dense. The parts read inputs and write outputs, their rows, in place.
  const std::vector<PlanTensor>& outputs() const { return outputs_; }
  void bind_input(size_t index, const std::byte* data);
  void bind_output(size_t index, std::byte* data);

  /// `profile`: adds to times(), which are the first part's.
  Status run(bool profile);

  const RunState& first() const { return *parts_.front().state; }
  const StepTimes& times() const { return times_; }
  std::vector<std::shared_ptr<const Plan>> plans() const;

 private:
  struct Part {
    Team* team;
    int first_thread;
    std::unique_ptr<RunState> state;  // null: idle
    int64_t first_row;
  };
  Part& part_of(int thread);

  Team* team_ = nullptr;
  std::vector<Part> parts_;
  std::vector<PlanTensor> outputs_;
  std::vector<int64_t> input_row_bytes_, output_row_bytes_;  // 0: not cut
  StepTimes times_;
};

}  // namespace svengine
