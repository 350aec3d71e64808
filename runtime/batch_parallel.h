// Shard mode: the batch is cut, and every core group computes its rows on its own.
//
//            rows 0..15          16..31          32..47          48..63
//          +-------------+  +-------------+  +-------------+  +-------------+
//          |   group 0   |  |   group 1   |  |   group 2   |  |   group 3   |     own threads, own barrier, own arena,
//          +-------------+  +-------------+  +-------------+  +-------------+     own copy of the weights
//
// On A64FX a CMG reaches its own HBM at 256 GB/s and another's much slower, and its barrier needs 120 ns against 1.3 us for
// the node, so throughput wants this mode; one sample's latency wants the other, where all groups share every step.
#pragma once
#include <list>
#include <string>
#include <vector>

#include "runtime/compiled_model.h"
#include "runtime/executor.h"
#include "runtime/numa_copies.h"

namespace svengine {

struct BatchParallel {
  struct Group {
    Group(Topology topology, int first, bool flush_denormals, int beside)
        : team(std::move(topology), flush_denormals, beside), first_thread(first) {}
    Team team;
    int first_thread;   // in the whole team
    NumaCopies numa_copies;  // unused by the first group, which has the originals
  };
  std::list<Group> groups;         // those with threads
  std::vector<bool> split_inputs;  // the leading dimension is the batch; other inputs go to every group whole

  /// The group that a thread of the whole team belongs to.
  Group& group_of(int thread);
  int64_t batch_of(const std::vector<Tensor>& inputs) const;
};

using Ports = std::vector<CompiledModel::Port>;

/// Cuts the team's topology. The batch is the symbolic leading dimension of an input; inputs without it are shared. Fails when
/// there is none, or when it does not lead every output and only lead: the rows would not be independent then.
Result<BatchParallel> make_batch_parallel(const Ports& inputs, const Ports& outputs, const Team& team);

/// Rows [begin, end) of a batch that fall on a group: counts differ by at most one, and the first group has no fewer than any.
struct RowRange {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
};
RowRange rows_of(int64_t batch, size_t group, size_t groups);

}  // namespace svengine
