// An If whose condition is known is replaced by its branch, and what that makes known is folded in turn: exporters write an If where a
// shape decides (PyTorch: squeeze of a dimension of unknown size).
//
// An If whose condition is not known, but whose branches only choose between constants and values from around them, becomes a Where: it
// needs no cut of the plan, and what is behind it can be fused and planned with what is before.
#include <algorithm>
#include <string_view>

#include "engine/graph/copy_body.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// Whether all is known of the values around the node that its branch declares of those it captures: what is not as declared is refused
/// when the branch runs, of which nothing is left once it is a part of the graph.
bool is_as_declared(const Node& node, const Graph& branch) {
  for (size_t i = 0; i < branch.inputs().size() && i + 1 < node.inputs().size(); ++i) {
    const Shape &declared = branch.inputs()[i]->type.shape, &around = node.input(i + 1)->type.shape;
    if (!declared.has_rank()) continue;
    if (!around.has_rank() || around.rank() != declared.rank()) return false;
    for (size_t d = 0; d < declared.dims().size(); ++d)
      if (declared[d].is_static() && !declared[d].same(around[d])) return false;
  }
  return true;
}

/// The branch that a known condition chooses; null where there is none yet.
const Subgraph* decided_branch(const Node& node) {
  const Value* condition = node.input(0);
  if (node.op().name != std::string_view("If") || node.op().domain != std::string_view() || !condition || !condition->is_constant() ||
      condition->constant().type() != DType::boolean || condition->constant().count() != 1)
    return nullptr;
  const auto* branch = node.attributes.get<Subgraph>(condition->constant().raw()[0] != std::byte{0} ? "then_branch" : "else_branch");
  return branch && *branch && is_as_declared(node, **branch) ? branch : nullptr;
}

/// An output of the graph needs a source of its own, which an input, a constant or another output is not.
Value* own_source(Graph& graph, Value* from, Value* output, Node* before, const OpDef& identity) {
  if (!graph.is_output(output) || (from->producer() && !graph.is_output(from))) return from;
  Node* copy = graph.add_node(identity, {}, {from}, 1, {}, before);
  copy->output()->type = from->type;
  return copy->output();
}

Status inline_branch(Graph& graph, Node* node, const Subgraph& body, const PassContext& context) {
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

constexpr int64_t kMostChosen = int64_t{1} << 16;  // elements: a Where reads both values and writes one, an If hands one on

/// The value around the node that output i of a branch without nodes is; null where it is a constant of the branch.
Value* captured_by(const Node& node, const Graph& branch, size_t i) {
  const auto& inputs = branch.inputs();
  const auto at = std::find(inputs.begin(), inputs.end(), branch.outputs()[i]);
  return at == inputs.end() ? nullptr : node.input(static_cast<size_t>(at - inputs.begin()) + 1);
}

/// What output i of a branch without nodes is, in the graph around it.
Value* chosen(Graph& graph, const Node& node, const Graph& branch, size_t i) {
  const Value* v = branch.outputs()[i];
  return v->is_constant() ? graph.add_constant(v->name(), v->constant()) : captured_by(node, branch, i);
}

bool are_alike(const Type& a, const Type& b) {
  return a.dtype == b.dtype && kDenseTypes.has(a.dtype) && a.shape.is_static() && b.shape.is_static() && same_shape(a.shape, b.shape) &&
         element_count(*a.shape.concrete()) <= kMostChosen;
}

/// What a captured value is around the node: a branch may declare it otherwise, and then is refused when it runs.
const Type& type_around(const Node& node, const Graph& branch, size_t i) {
  const Value* outer = captured_by(node, branch, i);
  return outer ? outer->type : branch.outputs()[i]->type;
}

/// Both branches have no nodes, and give what Where takes.
bool only_chooses(const Node& node) {
  if (node.op().name != std::string_view("If") || node.op().domain != std::string_view() || !node.input(0)) return false;
  const Subgraph *yes = node.attributes.get<Subgraph>("then_branch"), *no = node.attributes.get<Subgraph>("else_branch");
  const Shape& condition = node.input(0)->type.shape;
  if (!yes || !no || !(*yes)->nodes().empty() || !(*no)->nodes().empty() || !condition.is_static()) return false;
  if (element_count(*condition.concrete()) != 1) return false;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const Type& type = (*yes)->outputs()[i]->type;
    const bool alike = are_alike(type, (*no)->outputs()[i]->type) && are_alike(type, type_around(node, **yes, i)) &&
                       are_alike(type, type_around(node, **no, i));
    if (!alike || type.shape.rank() < condition.rank()) return false;
  }
  return true;
}

Status make_choice(Graph& graph, Node* node, const PassContext& context) {
  const Subgraph yes = *node->attributes.get<Subgraph>("then_branch"), no = *node->attributes.get<Subgraph>("else_branch");
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    Value *a = chosen(graph, *node, *yes, i), *b = chosen(graph, *node, *no, i);
    Node* where = graph.add_node(*context.ops.find("", "Where"), node->name(), {node->input(0), a, b}, 1, {}, node);
    SV_TRY(infer_types(*where));
    graph.replace_uses(node->output(i), where->output());
  }
  graph.erase(node);
  return {};
}

/// Whether any were made.
Result<bool> make_choices(Graph& graph, const PassContext& context) {
  bool any = false;
  for (Node* node : graph.snapshot()) {
    if (!only_chooses(*node)) continue;
    SV_TRY(make_choice(graph, node, context));
    any = true;
  }
  return any;
}

/// The passes before this one have not seen what was in a branch.
Status repeat_earlier_passes(Graph& graph, const PassContext& context) {
  for (const Pass& pass : pipeline()) {
    if (pass.run == inline_branches) break;
    SV_TRY(pass.run(graph, context));
  }
  return {};
}

}  // namespace

Status inline_branches_and(Graph& graph, const PassContext& context, Status (*repeat)(Graph&, const PassContext&)) {
  for (;;) {  // a branch may hold another If, which folding decides; every round takes one away
    std::vector<Node*> decided;
    for (const auto& node : graph.nodes())
      if (decided_branch(*node)) decided.push_back(node.get());
    if (decided.empty()) break;
    for (Node* node : decided) {
      const Subgraph* branch = decided_branch(*node);  // what it captures may have been the output of one before, and wait for inference
      if (branch) SV_TRY(inline_branch(graph, node, Subgraph(*branch), context));
    }
    SV_TRY(infer_all(graph));
    SV_TRY(repeat(graph, context));
  }
  SV_ASSIGN(const bool any, make_choices(graph, context));
  return any ? repeat(graph, context) : Status{};
}

Status inline_branches(Graph& graph, const PassContext& context) { return inline_branches_and(graph, context, repeat_earlier_passes); }

}  // namespace svengine
