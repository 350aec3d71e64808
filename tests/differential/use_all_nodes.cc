#include "tests/differential/use_all_nodes.h"

#include <algorithm>
#include <iterator>

#include "engine/graph/bodies.h"
#include "engine/graph/op_def.h"
#include "engine/graph/passes/pass.h"
#include "engine/ops/registry.h"

namespace svengine::differential {
namespace {

bool reads_elements(const Node& node, const Value* v) {
  for (size_t i = 0; i < node.inputs().size(); ++i)
    if (node.input(i) == v && !reads_shape_alone(node, i)) return true;
  return false;
}

/// Whether it has to be computed: not for its shape alone, nor for bodies, which may not run.
bool is_read(const Graph& graph, const Value* v) {
  const auto reads_values = [v](const Node* user) { return reads_elements(*user, v) && !has_body(*user); };
  return graph.is_output(v) || std::any_of(v->users().begin(), v->users().end(), reads_values);
}

bool is_read(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs().begin(), node.outputs().end(), [&](const Value* v) { return is_read(graph, v); });
}

/// A result of a body that nobody reads cannot become an output: it goes.
bool use_all_nodes_of_bodies(Node& node) {
  std::vector<Body> bodies = bodies_of(node);
  for (Body& body : bodies) {
    for (const auto& inner : body.graph.nodes())
      if (!use_all_nodes_of_bodies(*inner)) return false;
    if (!remove_dead_nodes(body.graph, {.ops = all_ops()}).ok()) return false;
    if (!reads_all_nodes(body.graph)) return false;
  }
  set_bodies(node, std::move(bodies));
  return true;
}

}  // namespace

bool reads_all_nodes(const Graph& graph) {
  return std::all_of(graph.nodes().begin(), graph.nodes().end(), [&](const auto& node) { return is_read(graph, *node); });
}

bool use_all_nodes(Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (!use_all_nodes_of_bodies(*node)) return false;
    std::vector<Value*> added;
    if (!is_read(graph, *node)) added.push_back(node->output());
    if (has_body(*node))  // of a branch that is known nothing is left but what computes those that are read
      std::copy_if(node->outputs().begin(), node->outputs().end(), std::back_inserter(added), [&](const Value* v) { return !is_read(graph, v); });
    for (Value* v : added) {
      if (is_container(v->type.dtype)) return false;  // no output here is one
      if (!graph.is_output(v)) graph.add_output(v);
    }
  }
  return true;
}

}  // namespace svengine::differential
