#include "tests/differential/use_all_nodes.h"

#include <algorithm>

#include "engine/graph/bodies.h"
#include "engine/graph/op_def.h"

namespace svengine::differential {
namespace {

/// Whether what it gives has to be computed: not for its shape alone, nor for bodies, which may not run.
bool is_read(const Graph& graph, const Node& node) {
  const auto reads_values = [](const Node* user) { return !user->op().traits.value_of_types && bodies_of(*user).empty(); };
  return std::any_of(node.outputs().begin(), node.outputs().end(), [&](const Value* v) {
    return graph.is_output(v) || std::any_of(v->users().begin(), v->users().end(), reads_values);
  });
}

}  // namespace

bool reads_all_nodes(const Graph& graph) {
  return std::all_of(graph.nodes().begin(), graph.nodes().end(), [&](const auto& node) { return is_read(graph, *node); });
}

void use_all_nodes(Graph& graph) {
  for (const auto& node : graph.nodes())
    if (!is_read(graph, *node)) graph.add_output(node->output());
}

}  // namespace svengine::differential
