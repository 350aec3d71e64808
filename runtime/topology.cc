#include "runtime/topology.h"

#include <numa.h>
#include <omp.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "engine/base/affinity.h"

namespace svengine {
namespace {

constexpr int kMaxThreads = 4096;

/// Distributes `threads` over groups in proportion to their cpus: cumulative rounding, so that the sum is exact.
void distribute_threads(std::vector<CoreGroup>& groups, int threads) {
  size_t total = 0, before = 0;
  for (const CoreGroup& g : groups) total += g.cpus.size();
  int given = 0;
  for (CoreGroup& g : groups) {
    before += g.cpus.size();
    const int until = static_cast<int>((before * static_cast<size_t>(threads) + total / 2) / total);
    g.threads = until - given;
    given = until;
  }
  std::erase_if(groups, [](const CoreGroup& g) { return g.threads == 0; });
}

std::string ranges(const std::vector<int>& cpus) {
  std::string out;
  for (size_t i = 0; i < cpus.size();) {
    size_t j = i;
    while (j + 1 < cpus.size() && cpus[j + 1] == cpus[j] + 1) ++j;
    if (!out.empty()) out += ',';
    out += i == j ? std::to_string(cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[j]);
    i = j + 1;
  }
  return out;
}

}  // namespace

int Topology::threads() const {
  int n = 0;
  for (const CoreGroup& g : groups) n += g.threads;
  return n;
}

int Topology::group_of(int thread) const {
  for (size_t g = 0; g < groups.size(); ++g) {
    if (thread < groups[g].threads) return static_cast<int>(g);
    thread -= groups[g].threads;
  }
  return 0;
}

Topology detect_topology(int threads) {
  std::map<int, CoreGroup> nodes;
  const bool numa = numa_available() >= 0;
  for (int cpu : allowed_cpus()) {
    const int node = numa ? numa_node_of_cpu(cpu) : -1;
    nodes[node].numa_node = node;
    nodes[node].cpus.push_back(cpu);
  }
  if (threads <= 0) threads = omp_get_max_threads();
  Topology topology;
  for (auto& [node, group] : nodes) topology.groups.push_back(std::move(group));
  distribute_threads(topology.groups, std::min(threads, kMaxThreads));
  return topology;
}

Result<Topology> parse_topology(const std::string& text) {
  int groups = 0, threads = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, groups);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == 'x') {
    const auto second = std::from_chars(first.ptr + 1, end, threads);
    if (second.ec == std::errc() && second.ptr == end && groups > 0 && threads > 0 && groups <= kMaxThreads &&
        threads <= kMaxThreads / groups) {
      Topology topology;
      topology.imagined = true;
      topology.groups.resize(static_cast<size_t>(groups));
      for (CoreGroup& g : topology.groups) g.threads = threads;
      return topology;
    }
  }
  return error("topology '{}' is not GROUPSxTHREADS, such as 4x12, with at most {} threads", text, kMaxThreads);
}

std::string to_string(const Topology& topology) {
  std::string out = fmt::format("{} group{}", topology.groups.size(), topology.groups.size() == 1 ? "" : "s");
  if (topology.imagined) return out + fmt::format(" of {} threads (given, not the machine's)", topology.groups[0].threads);
  for (size_t i = 0; i < topology.groups.size(); ++i) {
    const CoreGroup& g = topology.groups[i];
    out += fmt::format("{}{} thread{} on cpus {}", i ? "; " : ": ", g.threads, g.threads == 1 ? "" : "s", ranges(g.cpus));
    if (g.numa_node >= 0) out += fmt::format(" (node {})", g.numa_node);
  }
  return out;
}

}  // namespace svengine
