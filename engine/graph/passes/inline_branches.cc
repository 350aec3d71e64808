// An If whose condition is known is replaced by its branch, and what that makes known is folded in turn: exporters write an If where a
// shape decides (PyTorch: squeeze of a dimension of unknown size).
#include <algorithm>
#include <string_view>

#include "engine/graph/copy_body.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

bool is_decided(const Node& node) {
  const Value* condition = node.input(0);
  return node.op().name == std::string_view("If") && node.op().domain == std::string_view() && condition && condition->is_constant() &&
         condition->constant().type() == DType::boolean && condition->constant().count() == 1;
}

/// An output of the graph needs a source of its own, which an input, a constant or another output is not.
Value* own_source(Graph& graph, Value* from, Value* output, Node* before, const OpDef& identity) {
  if (!graph.is_output(output) || (from->producer() && !graph.is_output(from))) return from;
  Node* copy = graph.add_node(identity, {}, {from}, 1, {}, before);
  copy->output()->type = from->type;
  return copy->output();
}

Status inline_branch(Graph& graph, Node* node, const PassContext& context) {
  const bool yes = node->input(0)->constant().raw()[0] != std::byte{0};
  const Subgraph body = *node->attributes.get<Subgraph>(yes ? "then_branch" : "else_branch");
  const std::vector<Value*> inputs(node->inputs().begin() + 1, node->inputs().end());
  if (inputs.size() != body->inputs().size() || body->outputs().size() < node->outputs().size())
    return error("{}: its branch has {} inputs and {} outputs, needs {} and {}", describe(*node), body->inputs().size(),
                 body->outputs().size(), inputs.size(), node->outputs().size());
  const OpDef* identity = context.ops.find("", "Identity");
  const std::vector<Value*> results = copy_body(*body, inputs, graph, node);
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    Value* output = node->output(i);
    graph.replace_uses(output, own_source(graph, results[i], output, node, *identity));
  }
  graph.erase(node);
  return {};
}

}  // namespace

Status inline_branches(Graph& graph, const PassContext& context) {
  for (;;) {  // a branch may hold another If, which folding decides; every round takes one away
    std::vector<Node*> decided;
    for (const auto& node : graph.nodes())
      if (is_decided(*node)) decided.push_back(node.get());
    if (decided.empty()) return {};
    for (Node* node : decided) SV_TRY(inline_branch(graph, node, context));
    SV_TRY(infer_all(graph));
    SV_TRY(fold_constants(graph, context));
  }
}

}  // namespace svengine
