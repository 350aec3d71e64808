// Composite nodes become the nodes that they are made of: graph/expand.h.
#include <algorithm>

#include "engine/graph/expand.h"
#include "engine/graph/passes/early_expansion.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

constexpr int kMostRounds = 4;  // operators are made of composite ones at most twice over

bool is_replaced(const Graph& graph, const Node& node) {
  for (const Value* v : node.outputs())
    if (is_needed(graph, v)) return false;
  return true;
}

/// Puts what a composite node is made of in its place, and tells whether it has.
Result<bool> expanded(Graph& graph, Node* node, const PassContext& context, UncertainShapes uncertain) {
  if (!is_replaced(graph, *node)) {
    if (Status status = expand_node(graph, *node, context.ops, uncertain); !status.ok()) return std::move(status).error().in(describe(*node));
    if (!is_replaced(graph, *node)) return false;
  }
  graph.erase(node);
  return true;
}

Status expand_all(Graph& graph, const PassContext& context, UncertainShapes uncertain) {
  bool any = false;
  EarlyExpansion early(context);
  for (int round = 0; round < kMostRounds; ++round) {
    bool found = false;
    for (Node* node : graph.snapshot()) {
      if (!node->op().expand) continue;
      if (uncertain == UncertainShapes::wait && !is_replaced(graph, *node) && !early.keeps_refusals(graph, *node)) continue;
      SV_ASSIGN(const bool done, expanded(graph, node, context, uncertain));
      found |= done;
    }
    if (!found) break;
    any = true;
  }
  return any ? widen_types(graph, context) : Status{};  // at the stage `plan` no pass comes that would
}

}  // namespace

Status expand_composites(Graph& graph, const PassContext& context) { return expand_all(graph, context, UncertainShapes::wait); }

Status expand_composites_now(Graph& graph, const PassContext& context) { return expand_all(graph, context, UncertainShapes::taken); }

Status expand_unplannable(Graph& graph, const PassContext& context) {
  const auto is_known = [](const Value* v) { return !v || is_handle(v->type.dtype) || v->type.shape.is_static(); };
  const auto all_known = [&](const std::vector<Value*>& values) { return std::all_of(values.begin(), values.end(), is_known); };
  const auto is_plannable = [&](const Node* node) { return !node->op().expand || (all_known(node->outputs()) && !node->op().traits.has_host_parts); };
  const std::vector<Node*> nodes = graph.snapshot();
  if (std::all_of(nodes.begin(), nodes.end(), is_plannable)) return {};
  bool any = false;
  for (Node* node : nodes) {
    if (any) SV_TRY(infer_types(*node));  // what is computed from expanded nodes has shapes now
    if (is_plannable(node) || !all_known(node->inputs())) continue;
    SV_ASSIGN(const bool done, expanded(graph, node, context, UncertainShapes::taken));
    any |= done;
  }
  return any ? widen_types(graph, context) : Status{};
}

Status make_runnable(Graph& graph, const PassContext& context) {
  SV_TRY(round_every_node(graph, context));  // first: what composite nodes are made of stays wide within each
  SV_TRY(expand_composites(graph, context));
  return fold_constants(graph, context);  // the axes and sizes among it decide shapes
}

}  // namespace svengine
