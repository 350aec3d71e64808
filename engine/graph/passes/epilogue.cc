#include "engine/graph/passes/epilogue.h"

#include "engine/graph/passes/match.h"

namespace svengine {

void absorb(Graph& graph, Node& node, Node& next) {
  // Types are equal: an epilogue changes values only.
  graph.replace_absorbed(next.output(), node.output());
  graph.erase(&next);
}

bool absorb_activation(Graph& graph, Node& node, const OpDef& fused) {
  if (!node.attributes.get_string("activation").empty() || !only_used_once(graph, node.output())) return false;
  Node* next = node.output()->users()[0];
  if (!next->op().traits.activation || next->input(0) != node.output()) return false;
  const std::optional<Attributes> activation = next->op().traits.activation(*next);
  if (!activation) return false;
  graph.set_op(&node, fused);
  for (const auto& [name, value] : *activation) node.attributes.set(name, value);
  absorb(graph, node, *next);
  return true;
}

}  // namespace svengine
