#include "runtime/team_run.h"

#include <algorithm>

namespace svengine {
namespace {

int64_t row_bytes(const PlanTensor& t) {
  const Dims inner(t.dims.begin() + 1, t.dims.end());
  return element_count(inner) * static_cast<int64_t>(size_of(t.dtype));
}

}  // namespace

Result<TeamRun> TeamRun::whole(std::shared_ptr<const Plan> plan, Team& team, RunMemory* memory) {
  TeamRun run;
  run.team_ = &team;
  run.outputs_ = plan->outputs;
  run.input_row_bytes_.resize(plan->inputs.size());
  run.output_row_bytes_.resize(run.outputs_.size());
  Part part{&team, 0, nullptr, 0};
  SV_ASSIGN(part.state, RunState::create(std::move(plan), team, nullptr, memory));
  run.parts_.push_back(std::move(part));
  return run;
}

Result<TeamRun> TeamRun::batch_parallel(const std::vector<std::shared_ptr<const Plan>>& plans, int64_t batch, Team& team,
                                        BatchParallel& batch_parallel) {
  TeamRun run;
  run.team_ = &team;
  run.outputs_ = plans[0]->outputs;
  for (size_t i = 0; i < plans[0]->inputs.size(); ++i)
    run.input_row_bytes_.push_back(batch_parallel.split_inputs[i] ? row_bytes(plans[0]->inputs[i]) : 0);
  for (PlanTensor& t : run.outputs_) {
    run.output_row_bytes_.push_back(row_bytes(t));
    t.dims[0] = batch;
  }
  size_t g = 0;
  for (BatchParallel::Group& group : batch_parallel.groups) {
    Part part{&group.team, group.first_thread, nullptr, rows_of(batch, g, plans.size()).begin};
    if (plans[g]) {
      SV_ASSIGN(part.state, RunState::create(plans[g], group.team, g == 0 ? nullptr : &group.numa_copies));
    }
    run.parts_.push_back(std::move(part));
    ++g;
  }
  SV_TRY(team.run([&](int thread) {
    const BatchParallel::Group& group = batch_parallel.group_of(thread);
    group.numa_copies.copy(thread - group.first_thread, group.team.threads());
  }));
  for (BatchParallel::Group& group : batch_parallel.groups) group.numa_copies.end_copy();
  return run;
}

void TeamRun::bind_input(size_t index, const std::byte* data) {
  for (Part& p : parts_)
    if (p.state) p.state->bind_input(index, data + p.first_row * input_row_bytes_[index]);
}

void TeamRun::bind_output(size_t index, std::byte* data) {
  for (Part& p : parts_)
    if (p.state) p.state->bind_output(index, data + p.first_row * output_row_bytes_[index]);
}

TeamRun::Part& TeamRun::part_of(int thread) {
  auto it = parts_.begin();
  while (thread >= it->first_thread + it->team->threads()) ++it;
  return *it;
}

Status TeamRun::run(bool profile) {
  if (profile) times_.nanoseconds.resize(first().plan().steps.size());
  for (Part& p : parts_)
    if (p.state) p.state->start();
  SV_TRY(team_->run([&](int thread) {
    Part& p = part_of(thread);
    if (p.state) p.state->walk(*p.team, thread - p.first_thread, profile && &p == &parts_.front() ? &times_ : nullptr);
  }));
  for (const Part& p : parts_)
    if (p.state) SV_TRY(p.state->finish());
  return {};
}

std::vector<std::shared_ptr<const Plan>> TeamRun::plans() const {
  std::vector<std::shared_ptr<const Plan>> plans;
  for (const Part& p : parts_) {
    std::shared_ptr<const Plan> plan = p.state ? p.state->shared_plan() : nullptr;
    if (plan && std::find(plans.begin(), plans.end(), plan) == plans.end()) plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace svengine
