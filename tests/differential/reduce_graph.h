// Parts of a random graph, for finding the smallest that still fails.
#pragma once
#include <vector>

#include "tests/differential/graph_maker.h"

namespace svengine::differential {

/// Which of a graph's nodes and outputs are kept, in their order.
struct Part {
  std::vector<bool> nodes, outputs;
};

/// The part of a graph: results of nodes that are left out, where something needs them, become inputs of the values they had;
/// outputs of these are dropped. Inputs and constants that nothing uses go too.
RandomGraph part_of(const RandomGraph& whole, const Part& part);

}  // namespace svengine::differential
