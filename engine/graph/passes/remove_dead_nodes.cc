// Nodes whose outputs nobody uses go, last first, so that chains go in one walk.
#include <algorithm>

#include "engine/graph/passes/pass.h"

namespace svengine {

Status remove_dead_nodes(Graph& graph, const PassContext&) {
  const std::vector<Node*> nodes = graph.snapshot();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const auto& outputs = (*it)->outputs();
    const bool dead = std::none_of(outputs.begin(), outputs.end(),
                                   [&](Value* v) { return !v->users().empty() || graph.is_output(v); });
    if (dead) graph.erase(*it);
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
