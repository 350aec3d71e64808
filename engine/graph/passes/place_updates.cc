// Nodes that only give results of the graph (the steps of an optimiser: new weights, new states) move to where the last of what
// they read is made, so that it dies there: otherwise the gradients of all weights would live to the end of the backward pass.
//
//   dW3 ─> dW2 ─> dW1 ─> step 3 ─> step 2 ─> step 1      =>      dW3 ─> step 3 ─> dW2 ─> step 2 ─> dW1 ─> step 1
//
// Who runs the graph may have given a result the memory of an input that its node reads (Session::run_into), so a node stays
// behind everybody else who reads that input. Which inputs these may be is seen from the types: one of the results has the same.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

using Positions = std::unordered_map<const Node*, size_t>;

bool only_gives_results(const Graph& graph, const Node& node) {
  const auto is_result = [&](const Value* v) { return graph.is_output(v) && v->users().empty(); };
  return !node.op().traits.is_view && !node.outputs().empty() && std::all_of(node.outputs().begin(), node.outputs().end(), is_result);
}

/// The last node that has to come before this one; none: the node may stand first.
std::optional<size_t> last_before(const Node& node, const Positions& at) {
  std::optional<size_t> last;
  const auto after = [&](const Node* other) {
    if (other && other != &node) last = std::max(last.value_or(0), at.at(other));
  };
  for (const Value* in : node.inputs()) {
    if (!in || in->is_constant()) continue;
    after(in->producer());
    const auto is_like = [&](const Value* out) { return out->type == in->type; };
    if (std::none_of(node.outputs().begin(), node.outputs().end(), is_like)) continue;
    for (const Node* user : in->users()) after(user);
  }
  return last;
}

}  // namespace

Status place_updates(Graph& graph, const PassContext&) {
  const std::vector<Node*> nodes = graph.snapshot();
  Positions at;
  for (size_t i = 0; i < nodes.size(); ++i) at[nodes[i]] = i;
  std::vector<std::vector<Node*>> behind(nodes.size());
  std::vector<bool> moves(nodes.size(), false);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!only_gives_results(graph, *nodes[i])) continue;
    const std::optional<size_t> last = last_before(*nodes[i], at);
    if (!last || *last + 1 >= i) continue;
    moves[i] = true;
    behind[*last].push_back(nodes[i]);
  }
  // From the last to the first, so that what a node goes in front of has its own place already.
  Node* next = nullptr;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (next && !behind[i].empty()) {
      for (Node* node : behind[i]) graph.move_before(node, next);
      next = behind[i].front();
    }
    if (!moves[i]) next = nodes[i];
  }
  return {};
}

}  // namespace svengine
