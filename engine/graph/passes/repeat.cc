#include "engine/graph/passes/repeat.h"

#include <algorithm>

#include "engine/graph/passes/match.h"

namespace svengine {
namespace {

constexpr size_t kMean = 3, kVariance = 4;  // inputs of BatchNormalization and BatchNormRelu, and outputs of the training mode

bool is_training_norm(const Node& node) {
  return (is_op(&node, "BatchNormalization") || is_op(&node, "BatchNormRelu")) && node.attributes.get_int("training_mode") != 0;
}

bool may_write_over(const Graph& graph, const Node& node, const Value* input) {
  if (is_training_norm(node) && input != node.input(kMean) && input != node.input(kVariance)) return false;
  return std::any_of(node.outputs().begin(), node.outputs().end(),
                     [&](const Value* out) { return out->type == input->type && graph.is_output(out); });
}

}  // namespace

bool can_repeat(const Node& node) {
  if (node.inputs().empty() || node.op().outputs.min > 1) return false;
  return !is_training_norm(node) || node.output(kVariance);
}

std::vector<Value*> inputs_of_copy(const Node& node) {
  std::vector<Value*> inputs = node.inputs();
  if (is_training_norm(node)) {
    inputs[kMean] = node.output(kMean);
    inputs[kVariance] = node.output(kVariance);
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
    if (is_training_norm(*original)) attributes.set("training_mode", int64_t{0});
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
