// The machine's core groups (CMGs on A64FX, NUMA nodes or the whole machine elsewhere) and the threads to run on them.
#pragma once
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace svengine {

struct CoreGroup {
  int numa_node = -1;     // where its memory is; -1: unknown
  std::vector<int> cpus;  // of this process's allowed set, in the system's numbering; empty for an imagined group
  int threads = 0;        // of the team that belong to the group; they are consecutive
};

struct Topology {
  std::vector<CoreGroup> groups;
  bool imagined = false;  // given by --topology rather than found

  int threads() const;
  /// The group of a team's thread.
  int group_of(int thread) const;
};

/// Reads the allowed cpus (sched_getaffinity: never more than the batch system gave) and libnuma's nodes. `threads` <= 0
/// means OMP_NUM_THREADS or, without it, every allowed cpu; threads are spread over the groups in proportion.
Topology detect_topology(int threads);

/// "4x12": 4 groups of 12 threads, on whatever cpus there are, so that A64FX's layout can be exercised anywhere.
Result<Topology> parse_topology(const std::string& text);

/// "4 groups: 12 threads on node 4 (cpus 12-23), ..." for `svengine info`.
std::string to_string(const Topology& topology);

}  // namespace svengine
