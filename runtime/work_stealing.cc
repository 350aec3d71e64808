#include "runtime/work_stealing.h"

#include <algorithm>
#include <utility>

namespace svengine {
namespace {

constexpr int64_t kMostTasks = UINT32_MAX;  // that halves of a word can count

uint64_t word(TaskRange r) { return static_cast<uint64_t>(r.begin) << 32 | static_cast<uint64_t>(r.end); }
TaskRange range_of_halves(uint64_t word) { return {static_cast<int64_t>(word >> 32), static_cast<int64_t>(word & UINT32_MAX)}; }

/// Takes what `cut` cuts off the range that is left: it shortens its argument and returns the piece.
template <class Cut>
TaskRange take_from(std::atomic<uint64_t>& left, const Cut& cut) {
  uint64_t seen = left.load(std::memory_order_relaxed);
  for (;;) {
    TaskRange rest = range_of_halves(seen);
    if (rest.empty()) return {};
    const TaskRange taken = cut(rest);
    if (left.compare_exchange_weak(seen, word(rest), std::memory_order_relaxed)) return taken;
  }
}

}  // namespace

WorkQueues::WorkQueues(const Topology& topology) : shares_(new Share[static_cast<size_t>(topology.threads())]) {
  int first = 0;
  for (const CoreGroup& g : topology.groups) {
    groups_.insert(groups_.end(), static_cast<size_t>(g.threads), Group{first, g.threads});
    first += g.threads;
  }
}

bool WorkQueues::helps(int thread, int64_t tasks) const {
  const int threads = groups_[static_cast<size_t>(thread)].threads;
  return threads > 1 && threads <= kMostHelpers && tasks <= kMostTasks;
}

void WorkQueues::push(int thread, size_t step, int64_t tasks) {
  const auto threads = static_cast<int64_t>(groups_.size());
  const TaskRange share = share_of(tasks, thread, threads);
  Share& own = shares_[static_cast<size_t>(thread)];
  if (helps(thread, tasks))
    own.left[step % 2].store(word(share), std::memory_order_relaxed);
  else
    own.whole[step % 2] = share;
}

TaskRange WorkQueues::pop_or_steal(int thread, size_t step, int64_t tasks, int64_t grain) {
  Share& own = shares_[static_cast<size_t>(thread)];
  if (!helps(thread, tasks)) return std::exchange(own.whole[step % 2], {});
  const int64_t least = least_taken(tasks, static_cast<int64_t>(groups_.size()), grain);
  const auto front = [least](TaskRange& left) { return take_front(left, least); };
  const auto back = [least](TaskRange& left) { return take_back(left, least); };
  TaskRange taken = take_from(own.left[step % 2], front);
  const Group& group = groups_[static_cast<size_t>(thread)];
  for (int i = 1; taken.empty() && i < group.threads; ++i) {
    const int other = group.first + (thread - group.first + i) % group.threads;
    taken = take_from(shares_[static_cast<size_t>(other)].left[step % 2], back);
  }
  return taken;
}

void WorkQueues::clear(int thread) {
  Share& own = shares_[static_cast<size_t>(thread)];
  for (int i = 0; i < 2; ++i) own.left[i].store(0, std::memory_order_relaxed), own.whole[i] = {};
}

}  // namespace svengine
