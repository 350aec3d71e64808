#include "engine/graph/passes/repeat.h"

#include <algorithm>

namespace svengine {
namespace {

/// Null unless the node normalises by the batch's own statistics.
const RunningStatistics* training_statistics(const Node& node) {
  const std::optional<RunningStatistics>& running = node.op().traits.running_statistics;
  return running && node.attributes.get_int("training_mode") != 0 ? &*running : nullptr;
}

bool may_write_over(const Graph& graph, const Node& node, const Value* input) {
  const RunningStatistics* s = training_statistics(node);
  if (s && input != node.input(s->mean) && input != node.input(s->variance)) return false;
  return std::any_of(node.outputs().begin(), node.outputs().end(),
                     [&](const Value* out) { return out->type == input->type && graph.is_output(out); });
}

}  // namespace

bool can_repeat(const Node& node) {
  if (node.inputs().empty() || node.op().outputs.min > 1) return false;
  if (node.op().outputs.max == kVariadic && node.outputs().size() > 1) return false;  // how many they are says what they are: Split
  const RunningStatistics* s = training_statistics(node);
  return !s || node.output(s->variance);
}

std::vector<Value*> inputs_of_copy(const Node& node) {
  std::vector<Value*> inputs = node.inputs();
  if (const RunningStatistics* s = training_statistics(node)) {
    inputs[s->mean] = node.output(s->mean);
    inputs[s->variance] = node.output(s->variance);
  }
  return inputs;
}

bool is_written_over(const Graph& graph, const LiveMemory& memory, const Value* input, int position) {
  return std::any_of(input->users().begin(), input->users().end(), [&](const Node* user) {
    return memory.at(user) < position && may_write_over(graph, *user, input);
  });
}

std::unordered_map<const Value*, Value*> copy_nodes(Graph& graph, const std::vector<Node*>& originals, Node* before) {
  std::unordered_map<const Value*, Value*> copy_of;
  for (const Node* original : originals) {
    std::vector<Value*> inputs = inputs_of_copy(*original);
    for (Value*& v : inputs)
      if (const auto it = copy_of.find(v); it != copy_of.end()) v = it->second;
    Attributes attributes = original->attributes;
    if (training_statistics(*original)) attributes.set("training_mode", int64_t{0});
    Node* copy = graph.add_node(original->op(), original->name() + ".again", std::move(inputs), 1, std::move(attributes), before);
    copy->output()->type = original->output()->type;
    copy_of[original->output()] = copy->output();
  }
  return copy_of;
}

void redirect_uses(Graph& graph, const LiveMemory& memory, Value* from, Value* to, int first, std::vector<RedirectedUse>& done) {
  for (Node* user : std::vector<Node*>(from->users())) {
    if (memory.at(user) < first) continue;
    for (size_t slot = 0; slot < user->inputs().size(); ++slot) {
      if (user->input(slot) != from) continue;
      graph.set_input(user, slot, to);
      done.push_back({user, slot, from});
    }
  }
}

}  // namespace svengine
