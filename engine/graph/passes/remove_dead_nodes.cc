// Nodes whose outputs nobody uses go, last first, so that chains go in one walk.
#include <algorithm>

#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {

Status remove_dead_nodes(Graph& graph, const PassContext&) {
  const std::vector<Node*> nodes = graph.snapshot();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const auto& outputs = (*it)->outputs();
    if (std::none_of(outputs.begin(), outputs.end(), [&](const Value* v) { return is_needed(graph, v); })) graph.erase(*it);
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
