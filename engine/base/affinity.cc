#include "engine/base/affinity.h"

#include <sched.h>

#include <algorithm>
#include <climits>

#include "engine/base/round.h"

namespace svengine {
namespace {

constexpr size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;
constexpr size_t kMostCpus = size_t{1} << 20;  // far above what Linux can be built for (8192)

int read_own(size_t bytes, unsigned long* mask) { return sched_getaffinity(0, bytes, reinterpret_cast<cpu_set_t*>(mask)); }

}  // namespace

std::vector<int> allowed_cpus(ReadAffinity read) {
  // The system refuses masks smaller than its own, whose size it does not tell: cpu_set_t itself ends at 1024.
  for (size_t cpus = CPU_SETSIZE; cpus <= kMostCpus; cpus *= 2) {
    std::vector<unsigned long> mask(cpus / kWordBits, 0);
    if (read(mask.size() * sizeof mask[0], mask.data()) < 0) continue;
    std::vector<int> out;
    for (size_t cpu = 0; cpu < cpus; ++cpu)
      if (mask[cpu / kWordBits] >> cpu % kWordBits & 1) out.push_back(static_cast<int>(cpu));
    if (!out.empty()) return out;
  }
  return {0};
}

std::vector<int> allowed_cpus() { return allowed_cpus(read_own); }

void bind_thread(std::span<const int> cpus) {
  if (cpus.empty() || std::ranges::min(cpus) < 0) return;
  const auto last = static_cast<size_t>(std::ranges::max(cpus));
  std::vector<unsigned long> mask(ceil_div(last + 1, kWordBits), 0);
  for (int cpu : cpus) mask[static_cast<size_t>(cpu) / kWordBits] |= 1ul << static_cast<size_t>(cpu) % kWordBits;
  sched_setaffinity(0, mask.size() * sizeof mask[0], reinterpret_cast<const cpu_set_t*>(mask.data()));
}

}  // namespace svengine
