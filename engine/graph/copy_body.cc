#include "engine/graph/copy_body.h"

#include <unordered_map>

namespace svengine {

std::vector<Value*> copy_body(const Graph& body, const std::vector<Value*>& inputs, Graph& graph, Node* before, std::vector<Node*>* copies) {
  std::unordered_map<const Value*, Value*> map;
  for (size_t i = 0; i < body.inputs().size(); ++i) map[body.inputs()[i]] = inputs[i];
  const auto value_of = [&](const Value* v) -> Value* {
    if (!v) return nullptr;
    if (v->is_constant() && !map.count(v)) map[v] = graph.add_constant(v->name(), v->constant());
    return map.at(v);
  };
  for (const auto& node : body.nodes()) {
    std::vector<Value*> arguments;
    for (const Value* v : node->inputs()) arguments.push_back(value_of(v));
    std::vector<std::string> names;
    for (const Value* v : node->outputs()) names.push_back(v->name());
    Node* copy = graph.add_node(node->op(), node->name(), std::move(arguments), node->outputs().size(), node->attributes, before, names);
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      copy->output(i)->type = node->output(i)->type;
      map[node->output(i)] = copy->output(i);
    }
    if (copies) copies->push_back(copy);
  }
  std::vector<Value*> outputs;
  for (const Value* v : body.outputs()) outputs.push_back(value_of(v));
  return outputs;
}

}  // namespace svengine
