// Which bytes of a graph's run come from memory because they are no longer in L2.
#pragma once
#include <vector>

#include "engine/graph/graph.h"
#include "tools/predict/work.h"

namespace svengine::tool {

/// Bytes to and from memory for one node.
struct Traffic {
  double weights = 0;
  double activations = 0;  // of all groups together
};

/// One entry for every node, in order, as `works` has. The cache of `l2_bytes` is one group's; it sees all weights and a
/// group's part of the activations. The run is one of many: what the last one left behind is still there, if it fits.
std::vector<Traffic> memory_traffic(const Graph& graph, const std::vector<Work>& works, double l2_bytes, int groups);

}  // namespace svengine::tool
