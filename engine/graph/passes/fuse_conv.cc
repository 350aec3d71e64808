// Conv + Add of a residual + activation becomes FusedConv, which does all three in the kernel's epilogue.
#include <algorithm>
#include <unordered_map>

#include "engine/graph/passes/epilogue.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

constexpr DTypeSet kFusedTypes{DType::f32, DType::f64};

bool is_bare_conv(const Graph& graph, const Value* value) {
  const Node* conv = value->producer();
  return conv && kFusedTypes.has(value->type.dtype) && (is_op(conv, "Conv") || is_op(conv, "FusedConv")) && only_used_once(graph, value) &&
         !conv->input(3) && conv->attributes.get_string("activation").empty();
}

/// Of the two sides of an Add, the convolution that comes later takes the other as its residual.
Value* choose_conv(const Graph& graph, const Node& add, const std::unordered_map<const Node*, int>& order) {
  if (add.input(0) == add.input(1) || !same_shape(add.input(0)->type.shape, add.input(1)->type.shape)) return nullptr;
  Value* best = nullptr;
  for (Value* v : add.inputs())
    if (!v->is_constant() && is_bare_conv(graph, v) && (!best || order.at(v->producer()) > order.at(best->producer()))) best = v;
  return best && !other_input(add, best)->is_constant() ? best : nullptr;
}

}  // namespace

Status fuse_conv(Graph& graph, const PassContext& context) {
  const OpDef* fused = context.ops.find(kInternalDomain, "FusedConv");
  if (!fused) return {};
  std::unordered_map<const Node*, int> order;
  for (const auto& node : graph.nodes()) order.emplace(node.get(), static_cast<int>(order.size()));
  for (Node* add : graph.snapshot()) {
    if (!is_op(add, "Add") || add->inputs().size() != 2) continue;
    Value* conv_value = choose_conv(graph, *add, order);
    if (!conv_value) continue;
    Node* conv = conv_value->producer();
    Value* residual = other_input(*add, conv_value);
    graph.move_before(conv, add);  // the residual may be made after the convolution
    graph.set_op(conv, *fused);
    graph.resize_inputs(conv, std::max<size_t>(conv->inputs().size(), 4));
    graph.set_input(conv, 3, residual);
    absorb(graph, *conv, *add);
  }
  std::vector<Node*> convs;  // apart, because absorbing erases nodes that a snapshot would still name
  for (const auto& node : graph.nodes())
    if ((is_op(node.get(), "Conv") || is_op(node.get(), "FusedConv")) && kFusedTypes.has(node->output()->type.dtype)) convs.push_back(node.get());
  for (Node* conv : convs) absorb_activation(graph, *conv, *fused);
  return {};
}

}  // namespace svengine
