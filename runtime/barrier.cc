#include "runtime/barrier.h"

#include <sched.h>

namespace svengine {
namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

constexpr int kSpinsBeforeYield = 20000;  // longer than threads with a processor each are apart after balanced steps
constexpr int kSpinsBetweenYields = 16;

}  // namespace

Barrier::Barrier(const Topology& topology, bool oversubscribed)
    : members_(static_cast<size_t>(topology.threads())), lines_(new Line[members_.size()]),
      spins_(oversubscribed ? kSpinsBetweenYields : kSpinsBeforeYield) {
  int first = 0;
  for (const CoreGroup& group : topology.groups) {
    for (int t = first; t < first + group.threads; ++t) {
      members_[static_cast<size_t>(t)].leader = t == first ? 0 : first;
      if (t != first) members_[static_cast<size_t>(first)].followers.push_back(t);
    }
    if (first != 0) members_[0].followers.push_back(first);
    first += group.threads;
  }
}

void Barrier::spin_until(const std::atomic<uint32_t>& flag, uint32_t value) const {
  int spins = 0;
  while (flag.load(std::memory_order_acquire) != value) {
    relax();
    if (++spins >= spins_) {
      sched_yield();  // whoever is waited for may want this processor: from now on give way often
      spins -= kSpinsBetweenYields;
    }
  }
}

void Barrier::wait(int thread) {
  const Member& me = members_[static_cast<size_t>(thread)];
  Line& line = lines_[static_cast<size_t>(thread)];
  const uint32_t generation = ++line.generation;
  for (int t : me.followers) spin_until(lines_[static_cast<size_t>(t)].arrived, generation);
  if (thread != 0) {
    line.arrived.store(generation, std::memory_order_release);
    spin_until(line.released, generation);
  }
  for (int t : me.followers) lines_[static_cast<size_t>(t)].released.store(generation, std::memory_order_release);
}

}  // namespace svengine
