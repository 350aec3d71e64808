// Quantised convolutions work on channels-last images: every window is then a row of a product, and a pixel's channels are one run of
// bytes. Each becomes the engine's QLinearConv between two Transposes,
//
//   x ─> Transpose ─> QLinearConv (channels last) ─> Transpose ─> y
//
// and where one's second meets another's first there is neither. Element-wise nodes, poolings and concatenations between convolutions take
// the same layout.
#include <algorithm>

#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"
#include "engine/graph/transposed_node.h"

namespace svengine {
namespace {

/// [N, C, spatial...] to [N, spatial..., C], and back.
std::vector<int64_t> to_last(int64_t rank) {
  std::vector<int64_t> perm{0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}
std::vector<int64_t> to_first(int64_t rank) {
  std::vector<int64_t> perm{0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}

/// What a value is the channels-first form of; null when it is not made of a channels-last one.
Value* last_form(const Value* value) {
  const Node* transpose = producer_if(value, "Transpose");
  const int64_t rank = value->type.shape.rank();
  return transpose && rank >= 3 && transpose->attributes.get_ints("perm") == to_first(rank) ? transpose->input(0) : nullptr;
}

Value* as_last(Builder& builder, Value* value) {
  if (Value* form = last_form(value)) return form;
  return builder.add("Transpose", {value}, make_attributes({{"perm", to_last(value->type.shape.rank())}}));
}

void replace_by_last(Graph& graph, Builder& builder, Node* node, Value* last) {
  if (!builder.status().ok()) return;
  Value* first = builder.add("Transpose", {last}, make_attributes({{"perm", to_first(last->type.shape.rank())}}));
  if (!first) return;
  graph.replace_uses(node->output(), first);
  graph.erase(node);
}

/// A convolution, or a pooling of what is there channels last.
void turn_window(Graph& graph, Builder& builder, Node* node) {
  std::vector<Value*> inputs = node->inputs();
  inputs[0] = as_last(builder, inputs[0]);
  Attributes attributes = node->attributes;
  attributes.set("channels_last", int64_t{1});
  const Node* made = builder.node(kInternalDomain, node->op().name, std::move(inputs), 1, std::move(attributes));
  if (made) replace_by_last(graph, builder, node, made->output());
}

bool is_window(const Node& node) {
  if (node.input(0) == nullptr || node.input(0)->type.shape.rank() < 3 || node.attributes.get_int("channels_last")) return false;
  return is_op(&node, "QLinearConv") || (is_op(&node, "BytesMaxPool") && last_form(node.input(0)));
}

/// Of bytes that are all there channels last.
bool is_concat_of_last(const Node& node) {
  if (!is_op(&node, "Concat") || (node.output()->type.dtype != DType::u8 && node.output()->type.dtype != DType::i8)) return false;
  return std::all_of(node.inputs().begin(), node.inputs().end(), [](const Value* v) { return last_form(v); });
}

void turn_concat(Graph& graph, Builder& builder, Node* node) {
  std::vector<Value*> inputs = node->inputs();
  for (Value*& input : inputs) input = last_form(input);
  const int64_t rank = node->output()->type.shape.rank(), given = node->attributes.get_int("axis"), axis = given < 0 ? given + rank : given;
  const int64_t last = axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1;
  Value* made = builder.add("Concat", std::move(inputs), make_attributes({{"axis", last}}));
  if (made) replace_by_last(graph, builder, node, made);
}

/// Both operands of one shape, at least one of which is there channels last.
bool follows_layout(const Node& node) {
  if (!is_op(&node, "QLinearAdd") && !is_op(&node, "QLinearMul")) return false;
  const Value *a = node.input(0), *b = node.input(3);
  return same_shape(a->type.shape, b->type.shape) && last_form(a) && last_form(b);
}

void turn_binary(Graph& graph, Builder& builder, Node* node) {
  std::vector<Value*> inputs = node->inputs();
  for (size_t i : {0, 3}) inputs[i] = last_form(inputs[i]);
  const Node* made = builder.node(node->op().domain, node->op().name, std::move(inputs), 1, node->attributes);
  if (made) replace_by_last(graph, builder, node, made->output());
}

/// Functions of bytes and their means take any order of dimensions.
bool takes_any_order(const Node& node) {
  return (is_op(&node, "ByteTable") || is_op(&node, "BytesMean")) && last_form(node.input(0));
}

void turn_any(Graph& graph, Builder& builder, Node* node) {
  const auto stored = node->op().traits.transposed(*node, to_first(node->input(0)->type.shape.rank()));
  if (!stored) return;
  std::vector<Value*> inputs = node->inputs();
  inputs[0] = last_form(inputs[0]);
  const Node* made = builder.node(node->op().domain, node->op().name, std::move(inputs), 1, stored->attributes);
  if (!made) return;
  const Permutation& perm = stored->outputs[0];
  Value* y =
      std::is_sorted(perm.begin(), perm.end()) ? made->output() : builder.add("Transpose", {made->output()}, make_attributes({{"perm", perm}}));
  if (!y) return;
  graph.replace_uses(node->output(), y);
  graph.erase(node);
}

}  // namespace

Status quantized_layout(Graph& graph, const PassContext& context) {
  for (Node* node : graph.snapshot()) {
    Builder builder(graph, context.ops);
    builder.set_position(node);
    builder.set_node_name(node->name());
    if (is_window(*node))
      turn_window(graph, builder, node);
    else if (is_concat_of_last(*node))
      turn_concat(graph, builder, node);
    else if (follows_layout(*node))
      turn_binary(graph, builder, node);
    else if (takes_any_order(*node))
      turn_any(graph, builder, node);
    SV_TRY(builder.status());
  }
  return remove_dead_nodes(graph, context);  // Transposes back that nobody reads
}

}  // namespace svengine
