#include "runtime/step_queue.h"

#include "runtime/spin_wait.h"

namespace svengine {
namespace {

constexpr int kBits = 24;
constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;

uint64_t word(int64_t step, TaskRange r) {
  return static_cast<uint64_t>(step) << 2 * kBits | static_cast<uint64_t>(r.begin) << kBits | static_cast<uint64_t>(r.end);
}

TaskRange range(uint64_t word) { return {static_cast<int64_t>(word >> kBits & kMask), static_cast<int64_t>(word & kMask)}; }

template <class Cut>
TaskRange take_of(std::atomic<uint64_t>& left, int64_t step, int64_t least, const Cut& cut) {
  uint64_t seen = left.load(std::memory_order_relaxed);
  while (seen >> 2 * kBits == static_cast<uint64_t>(step)) {
    TaskRange rest = range(seen);
    if (rest.empty()) break;
    const TaskRange taken = cut(rest, least);
    if (left.compare_exchange_weak(seen, word(step, rest), std::memory_order_relaxed)) return taken;
  }
  return {};
}

}  // namespace

StepQueue::StepQueue(int threads, int spins)
    : threads_(threads), spins_(spins), shares_(new Share[static_cast<size_t>(threads)]) {}

void StepQueue::open(int64_t step, int64_t tasks) {
  for (int t = 0; t < threads_; ++t)
    shares_[static_cast<size_t>(t)].left.store(word(step, share_of(tasks, t, threads_)), std::memory_order_relaxed);
  undone_.store(tasks, std::memory_order_relaxed);
  step_.store(step, std::memory_order_release);
}

TaskRange StepQueue::take(int thread, int64_t step, int64_t tasks, int64_t grain) {
  const int64_t least = least_taken(tasks, threads_, grain);
  TaskRange taken = take_of(shares_[static_cast<size_t>(thread)].left, step, least, take_front);
  for (int i = 1; taken.empty() && i < threads_; ++i)
    taken = take_of(shares_[static_cast<size_t>((thread + i) % threads_)].left, step, least, take_back);
  return taken;
}

bool StepQueue::finish(int64_t count) { return undone_.fetch_sub(count, std::memory_order_acq_rel) == count; }

int64_t StepQueue::wait_beyond(int64_t step) const {
  int64_t now = step;
  spin_until(spins_, [&] { return (now = step_.load(std::memory_order_acquire)) != step; });
  return now;
}

}  // namespace svengine
