#include "runtime/executor.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "engine/base/affinity.h"
#include "engine/kernels/contract.h"
#include "runtime/float_mode.h"
#include "runtime/fork_guard.h"
#include "runtime/spin_wait.h"

namespace svengine {
namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool more_than_cpus(int threads) { return static_cast<size_t>(threads) > allowed_cpus().size(); }

/// Threads that help each other need not wait for one that has no processor.
bool can_queue(const Plan& plan, const Topology& topology) {
  const bool fits = std::ranges::all_of(plan.steps, [](const Step& step) { return step.tasks <= StepQueue::kMostTasks; });
  return topology.groups.size() == 1 && topology.threads() > 1 && topology.threads() <= kMostHelpers && fits &&
         plan.steps.size() < static_cast<size_t>(StepQueue::kMostSteps);
}

}  // namespace

Team::Team(Topology topology, bool flush_denormals, int beside)
    : topology_(std::move(topology)), threads_(topology_.threads()), flush_denormals_(flush_denormals),
      oversubscribed_(more_than_cpus(threads_ + beside)), barrier_(topology_, oversubscribed_), work_queues_(topology_) {}

Status Team::run_all(void (*call)(const void* body, int thread), const void* body) const {
  if (threads_ == 1) {
    call(body, 0);
    return {};
  }
  if (lost_threads_by_fork())
    return error("this process was forked after the threads of its parent had started, and OpenMP cannot start them anew: use one thread here, or "
                 "fork before the first run");
  note_team_start();
  int given = 0;
#pragma omp parallel num_threads(threads_)
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    if (thread == 0) given = threads;  // who reads it does so after the region: no thread waits for another here
    if (threads == threads_) call(body, thread);
  }
  if (given == threads_) return {};
  return error("OpenMP gave {} of the {} threads asked for; lower --threads, or raise OMP_THREAD_LIMIT, or set "
               "OMP_DYNAMIC=false and call from outside a parallel region", given, threads_);
}

Result<std::unique_ptr<RunState>> RunState::create(std::shared_ptr<const Plan> plan, const Team& team, NumaCopies* numa_copies,
                                                   RunMemory* memory) {
  std::unique_ptr<RunState> state(new RunState);
  RunMemory own;
  RunMemory& from = memory ? *memory : own;
  SV_ASSIGN(state->arena_, from.arena.at_least(static_cast<size_t>(plan->arena_bytes)));
  SV_ASSIGN(state->scratch_, from.scratch.at_least(static_cast<size_t>(plan->scratch_bytes) * static_cast<size_t>(team.threads())));
  state->input_slots_.resize(plan->inputs.size());
  state->output_slots_.resize(plan->outputs.size());
  for (size_t i = 0; i < plan->slots.size(); ++i) {
    const Slot& s = plan->slots[i];
    std::byte* base = nullptr;
    if (s.kind == SlotKind::arena) base = state->arena_->data() + s.offset;
    if (s.kind == SlotKind::constant && !numa_copies) base = const_cast<std::byte*>(s.constant);
    if (s.kind == SlotKind::constant && numa_copies) {
      state->copies_.push_back(numa_copies->of(s.constant, s.bytes, plan));
      base = const_cast<std::byte*>(state->copies_.back().get());
      if (!base && s.bytes > 0) return error("no memory for a core group's copy of {} bytes of weights", s.bytes);
    }
    if (s.kind == SlotKind::input) state->input_slots_[s.index] = static_cast<int32_t>(i);
    if (s.kind == SlotKind::output) state->output_slots_[s.index] = static_cast<int32_t>(i);
    state->bases_.push_back(base);
  }
  if (can_queue(*plan, team.topology()))
    state->queue_ = std::make_unique<StepQueue>(team.threads(), spins_before_yield(team.oversubscribed()));
  state->plan_ = std::move(plan);
  return state;
}

void RunState::bind_input(size_t index, const void* data) {
  bases_[static_cast<size_t>(input_slots_[index])] = static_cast<std::byte*>(const_cast<void*>(data));
}

void RunState::bind_output(size_t index, void* data) {
  bases_[static_cast<size_t>(output_slots_[index])] = static_cast<std::byte*>(data);
}

void RunState::start() {
  if (kernels::contract_checks) {  // every byte: NaN, -1, an index out of range
    std::memset(arena_->data(), 0xff, static_cast<size_t>(plan_->arena_bytes));
    std::memset(scratch_->data(), 0xff, scratch_->bytes());
  }
  problem_ = nullptr;
  failed_step_ = kNone;
  if (queue_) {
    queue_->open(0, plan_->steps.empty() ? 0 : plan_->steps[0].tasks);
    opened_ = now();
  }
}

void RunState::walk(Team& team, int thread, StepTimes* times) {
  const FloatMode mode(team.flush_denormals());
  const Run run(bases_.data(), scratch_->data() + static_cast<size_t>(thread) * static_cast<size_t>(plan_->scratch_bytes));
  if (team.threads() == 1) return walk_alone(run, times);
  if (queue_) return walk_by_queue(run, thread, times);
  walk_by_barrier(team, run, thread, times);
}

void RunState::run_tasks(const Run& run, int64_t step, TaskRange tasks) {
  const Step& s = plan_->steps[static_cast<size_t>(step)];
  const char* problem = s.run(run.for_step(s.scratch_bytes), tasks.begin, tasks.end);
  const char* none = nullptr;
  if (problem && problem_.compare_exchange_strong(none, problem)) failed_step_ = step;
}

void RunState::walk_alone(const Run& run, StepTimes* times) {
  int64_t started = times ? now() : 0;
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    run_tasks(run, static_cast<int64_t>(i), {0, plan_->steps[i].tasks});
    if (times) {
      const int64_t t = now();
      times->nanoseconds[i] += t - started;
      started = t;
    }
    if (failed_step_.load(std::memory_order_relaxed) != kNone) return;
  }
}

void RunState::walk_by_queue(const Run& run, int thread, StepTimes* times) {
  const auto steps = static_cast<int64_t>(plan_->steps.size());
  for (int64_t i = queue_->current(); i < steps; i = queue_->wait_beyond(i)) {
    const Step& step = plan_->steps[static_cast<size_t>(i)];
    const auto next = [&] { return queue_->take(thread, i, step.tasks, step.grain); };
    int64_t done = 0;
    for (TaskRange r = next(); !r.empty(); r = next()) {
      run_tasks(run, i, r);
      done += r.end - r.begin;
    }
    if (done > 0 && queue_->finish(done)) open_next(i, times);
  }
}

void RunState::open_next(int64_t step, StepTimes* times) {
  if (times) {
    const int64_t t = now();
    times->nanoseconds[static_cast<size_t>(step)] += t - opened_;
    opened_ = t;
  }
  const auto steps = static_cast<int64_t>(plan_->steps.size());
  const int64_t next = failed_step_.load() == kNone ? step + 1 : steps;
  queue_->open(next, next < steps ? plan_->steps[static_cast<size_t>(next)].tasks : 0);
}

void RunState::walk_by_barrier(Team& team, const Run& run, int thread, StepTimes* times) {
  WorkQueues& shares = team.work_queues();
  int64_t started = times && thread == 0 ? now() : 0;
  const size_t steps = plan_->steps.size();
  if (steps > 0) shares.push(thread, 0, plan_->steps[0].tasks);
  for (size_t i = 0; i < steps; ++i) {
    const Step& step = plan_->steps[i];
    if (i + 1 < steps) shares.push(thread, i + 1, plan_->steps[i + 1].tasks);
    const auto next = [&] { return shares.pop_or_steal(thread, i, step.tasks, step.grain); };
    for (TaskRange r = next(); !r.empty(); r = next()) run_tasks(run, static_cast<int64_t>(i), r);
    team.barrier().wait(thread);
    if (times && thread == 0) {
      const int64_t t = now();
      times->nanoseconds[i] += t - started;
      started = t;
    }
    // A failure in step i was written before its barrier, so here every thread sees it. One that a faster thread has just met
    // in step i + 1 is not counted yet, and ends the run one step later for all.
    if (failed_step_.load() <= static_cast<int64_t>(i)) return shares.clear(thread);
  }
}

Status RunState::finish() const {
  const int64_t failed = failed_step_.load();
  if (failed == kNone) return {};
  const Step& step = plan_->steps[static_cast<size_t>(failed)];
  return error("node '{}' ({}): {}", step.node, step.op, problem_.load());
}

}  // namespace svengine
