// Before differentiation, a batch norm in training and the Relu behind it become one operator, with the sum that ends a residual
// block:
//
//   BatchNormalization ─> Relu                     =>   BatchNormRelu(x)
//   BatchNormalization ─> Add(residual) ─> Relu    =>   BatchNormRelu(x, residual)
//
// Forward that saves the passes over memory between them; backward, where the operator has a gradient of its own, those of the
// Relu's. Norms with known statistics are left to what folds them into convolutions.
#include <algorithm>
#include <unordered_map>

#include "engine/graph/passes/epilogue.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

constexpr size_t kNormResidual = 5;  // BatchNormRelu's input

using Order = std::unordered_map<const Node*, int>;

/// The training norm whose result this is, if nobody else reads that. It may move: no node reads its statistics (as outputs of the
/// graph they bind it to no place).
Node* training_norm(const Graph& graph, const Value* value) {
  Node* norm = producer_if(value, "BatchNormalization");
  if (!norm || value != norm->output() || !norm->attributes.get_int("training_mode")) return nullptr;
  if (!only_used_once(graph, value)) return nullptr;
  const auto unread_by_nodes = [&](const Value* out) { return out == value || out->users().empty(); };
  return std::all_of(norm->outputs().begin(), norm->outputs().end(), unread_by_nodes) ? norm : nullptr;
}

/// Of the two sides of an Add, the norm that comes later, which takes the other side as its residual.
Node* norm_of_sum(const Graph& graph, const Node& add, const Order& order) {
  if (add.input(0) == add.input(1) || !same_shape(add.input(0)->type.shape, add.input(1)->type.shape)) return nullptr;
  Node* best = nullptr;
  for (const Value* v : add.inputs())
    if (Node* norm = training_norm(graph, v); norm && (!best || order.at(norm) > order.at(best))) best = norm;
  return best;
}

void fuse(Graph& graph, Node& relu, const OpDef& fused, const Order& order) {
  Node* norm = training_norm(graph, relu.input(0));
  Node* add = producer_if(relu.input(0), "Add");
  if (add && only_used_once(graph, add->output())) norm = norm_of_sum(graph, *add, order);
  if (!norm) return;
  if (norm->output() != relu.input(0)) {
    graph.move_before(norm, add);  // the residual may be made after the norm
    graph.resize_inputs(norm, kNormResidual + 1);
    graph.set_input(norm, kNormResidual, other_input(*add, norm->output()));
    absorb(graph, *norm, *add);
  }
  graph.set_op(norm, fused);
  absorb(graph, *norm, relu);
}

}  // namespace

Status fuse_norm_relu(Graph& graph, const PassContext& context) {
  const OpDef* fused = context.ops.find(kInternalDomain, "BatchNormRelu");
  if (!fused) return {};
  Order order;
  std::vector<Node*> relus;  // apart, because absorbing erases nodes that a snapshot would still name
  for (const auto& node : graph.nodes()) {
    order.emplace(node.get(), static_cast<int>(order.size()));
    if (is_op(node.get(), "Relu") && node->input(0)->type.dtype == DType::f32) relus.push_back(node.get());
  }
  for (Node* relu : relus) fuse(graph, *relu, *fused, order);
  return {};
}

}  // namespace svengine
