// Nodes done a second time, later in the graph: what the recomputing passes are made of.
#pragma once
#include <unordered_map>
#include <vector>

#include "engine/graph/passes/live_memory.h"

namespace svengine {

/// Can a copy with one output give the node's output 0, bit by bit?
bool can_repeat(const Node& node);

/// What a copy of the node reads: its inputs; for a training batch norm, whose copy is the inference mode, the mean and
/// variance that the batch had in place of the running ones.
std::vector<Value*> inputs_of_copy(const Node& node);

/// Somebody before node `position` may write a result of the graph over this input of it (Session::run_into): a node that reads
/// it and gives a result of its type.
bool is_written_over(const Graph& graph, const LiveMemory& memory, const Value* input, int position);

/// Copies of the nodes, which are in the graph's order, go in front of `before`; they read each other's results. Returned: what
/// they give, by the values that it stands for.
std::unordered_map<const Value*, Value*> copy_nodes(Graph& graph, const std::vector<Node*>& originals, Node* before);

struct RedirectedUse {
  Node* node;
  size_t slot;
  Value* original;
};
/// Users of `from` at node `first` and after it take `to` instead. `memory` is of the graph before `to` was there.
void redirect_uses(Graph& graph, const LiveMemory& memory, Value* from, Value* to, int first, std::vector<RedirectedUse>& done);

}  // namespace svengine
