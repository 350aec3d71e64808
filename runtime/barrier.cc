#include "runtime/barrier.h"

#include "runtime/spin_wait.h"

namespace svengine {

Barrier::Barrier(const Topology& topology, bool oversubscribed)
    : members_(static_cast<size_t>(topology.threads())), lines_(new Line[members_.size()]),
      spins_(spins_before_yield(oversubscribed)) {
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

void Barrier::wait(int thread) {
  const Member& me = members_[static_cast<size_t>(thread)];
  Line& line = lines_[static_cast<size_t>(thread)];
  const uint32_t generation = ++line.generation;
  const auto wait_for = [&](const std::atomic<uint32_t>& flag) {
    spin_until(spins_, [&] { return flag.load(std::memory_order_acquire) == generation; });
  };
  for (int t : me.followers) wait_for(lines_[static_cast<size_t>(t)].arrived);
  if (thread != 0) {
    line.arrived.store(generation, std::memory_order_release);
    wait_for(line.released);
  }
  for (int t : me.followers) lines_[static_cast<size_t>(t)].released.store(generation, std::memory_order_release);
}

}  // namespace svengine
