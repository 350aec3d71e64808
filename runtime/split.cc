// Cutting a graph where shapes depend on data.
//
//     known nodes: every output shape concrete, every input known,
//                  and the values that lowering reads, constants       -> prefix
//     the others                                                       -> rest
//     values that cross, and graph outputs                             -> outputs of prefix, inputs of rest
//
// The values that decide the shapes of the first unknown nodes (Reshape's shape, Slice's starts, ...) cross the cut; when the
// prefix has run, they are constants of the rest, and more shapes are known.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "runtime/segment.h"

namespace svengine {
namespace {

/// Output shapes may be known without the inputs that otherwise decide them (a scalar's sum, over whatever axes); lowering reads these
/// all the same. A view is not lowered.
bool can_plan(const Node& node) {
  const auto is_static = [](const Value* v) { return v->type.shape.is_static(); };
  if (!std::all_of(node.outputs().begin(), node.outputs().end(), is_static)) return false;
  const std::vector<int>& deciding = node.op().traits.shape_inputs;
  return node.op().traits.is_view || std::all_of(deciding.begin(), deciding.end(), [&](int i) {
    const Value* v = node.input(static_cast<size_t>(i));
    return !v || v->is_constant();
  });
}

struct Cut {
  std::unordered_set<const Node*> known;
  std::unordered_set<const Value*> available;  // inputs and outputs of known nodes
  std::unordered_set<const Value*> needed;     // values that decide shapes next
};

Cut find_cut(const Graph& graph) {
  Cut cut;
  cut.available.insert(graph.inputs().begin(), graph.inputs().end());
  const auto is_available = [&](const Value* v) { return !v || v->is_constant() || cut.available.count(v); };
  for (const auto& node : graph.nodes()) {
    if (!std::all_of(node->inputs().begin(), node->inputs().end(), is_available)) continue;
    if (can_plan(*node)) {
      cut.known.insert(node.get());
      cut.available.insert(node->outputs().begin(), node->outputs().end());
      continue;
    }
    for (int i : node->op().traits.shape_inputs)
      if (const Value* v = node->input(static_cast<size_t>(i)); v && !v->is_constant()) cut.needed.insert(v);
  }
  return cut;
}

Error no_progress(const Graph& graph) {
  for (const auto& node : graph.nodes())
    if (!can_plan(*node))
      return error("{}: its output shape cannot be determined from its inputs' shapes and values", describe(*node));
  return error("a shape cannot be determined");
}

/// Copies the constants and nodes that `wanted` accepts; `map` holds the values there already.
void copy_nodes(const Graph& from, Graph& to, std::unordered_map<const Value*, Value*>& map,
                const std::function<bool(const Node&)>& wanted) {
  for (const auto& node : from.nodes()) {
    if (!wanted(*node)) continue;
    std::vector<Value*> inputs;
    for (const Value* v : node->inputs()) {
      if (v && v->is_constant() && !map.count(v)) map[v] = to.add_constant(v->name(), v->constant());
      inputs.push_back(v ? map.at(v) : nullptr);
    }
    std::vector<std::string> names;
    for (const Value* v : node->outputs()) names.push_back(v->name());
    Node* copy = to.add_node(node->op(), node->name(), std::move(inputs), node->outputs().size(), node->attributes,
                             nullptr, names);
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      copy->output(i)->type = node->output(i)->type;
      map[node->output(i)] = copy->output(i);
    }
  }
}

}  // namespace

bool all_shapes_known(const Graph& graph) {
  return std::all_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& n) { return can_plan(*n); });
}

Result<SplitGraph> split_at_unknown_shapes(const Graph& graph) {
  const Cut cut = find_cut(graph);
  if (cut.needed.empty()) return no_progress(graph);

  SplitGraph split;
  std::unordered_map<const Value*, Value*> in_prefix, in_rest;
  for (const Value* v : graph.inputs()) in_prefix[v] = split.prefix.add_input(v->name(), v->type);
  copy_nodes(graph, split.prefix, in_prefix, [&](const Node& n) { return cut.known.count(&n) > 0; });

  const auto crosses = [&](const Value* v) {
    if (v->is_constant() || !cut.available.count(v)) return false;
    return cut.needed.count(v) || graph.is_output(v) ||
           std::any_of(v->users().begin(), v->users().end(), [&](const Node* n) { return !cut.known.count(n); });
  };
  const auto cross = [&](const Value* v, BoundarySource source) {
    in_rest[v] = split.rest.add_input(v->name(), v->type);
    split.sources.push_back(source);
    split.rest_needs_value.push_back(cut.needed.count(v) > 0);
  };
  for (size_t i = 0; i < graph.inputs().size(); ++i)
    if (crosses(graph.inputs()[i])) cross(graph.inputs()[i], {true, i});
  for (const auto& node : graph.nodes())
    for (const Value* v : node->outputs())
      if (crosses(v)) {
        cross(v, {false, split.prefix.outputs().size()});
        split.prefix.add_output(in_prefix.at(v));
      }
  copy_nodes(graph, split.rest, in_rest, [&](const Node& n) { return !cut.known.count(&n); });
  for (const Value* v : graph.outputs()) {
    if (v->is_constant() && !in_rest.count(v)) in_rest[v] = split.rest.add_constant(v->name(), v->constant());
    split.rest.add_output(in_rest.at(v));
  }
  return split;
}

}  // namespace svengine
