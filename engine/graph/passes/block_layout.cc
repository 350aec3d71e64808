// Gives convolutional regions of a network the channel-blocked layout NCHWc (NCDHWc), with reorders only at its borders.
//
// One walk in order. A node that prefers blocks gets its data inputs blocked (a Reorder is put in front of a plain one) and its
// output is blocked, with others of the same type, unless it is a sum over pixels. A node that works element by element follows its
// inputs: blocked when one of them is, as long as all tensors among them have the same shape. Every other node gets plain inputs. One
// value is reordered at most once in each direction: the copies are remembered.
//
//   image ─> Conv ─> Relu ─> MaxPool ─> ... ─> GlobalAveragePool ─> Reorder ─> Flatten ─> Gemm
//   plain    └───────────── blocked ──────────────────────────────┘            plain
#include <algorithm>
#include <unordered_map>

#include "engine/graph/blocked_rank.h"
#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

class BlockLayout {
 public:
  BlockLayout(Graph& graph, const PassContext& context)
      : graph_(graph), block_(context.block), reorder_(*context.ops.find(kInternalDomain, "Reorder")) {}

  void visit(Node& node) {
    const OpDef& op = node.op();
    const bool of_floats = !node.inputs().empty() && node.input(0) && node.input(0)->type.dtype == DType::f32;
    if (of_floats && op.blocked.mode == BlockedMode::prefers && !wants_plain_output(node) &&
        (!op.blocked.can_block || op.blocked.can_block(node, block_)))
      make_blocked(node);
    else if (op.blocked.mode == BlockedMode::follows && can_follow(node)) follow(node);
    else make_plain(node);
  }

  void finish() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      Value* v = graph_.outputs()[i];
      if (!v->type.block) continue;
      // The caller sees the plain one, under the name it knows.
      const std::string name = v->name();
      graph_.rename(v, name + ".blocked");
      Value* plain = in_layout(v, 0, nullptr);
      for (size_t j = i; j < graph_.outputs().size(); ++j)
        if (graph_.outputs()[j] == v) graph_.set_output(j, plain);
      graph_.rename(plain, name);
    }
  }

 private:
  /// A second result of the image's shape in another element type (the positions of maxima) exists in plain layout only.
  bool wants_plain_output(const Node& node) const {
    const Type& image = node.output()->type;
    return std::any_of(node.outputs().begin(), node.outputs().end(), [&](const Value* out) {
      return is_needed(graph_, out) && out->type.dtype != image.dtype && out->type.shape == image.shape;
    });
  }

  void make_blocked(Node& node) {
    const OpDef& op = node.op();
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (!node.input(i)) continue;
      if (op.blocked.reads_blocked(i)) make_input_blocked(node, i);
      else set_layout(node, i, 0);
    }
    const Type plain = node.output()->type;
    for (Value* out : node.outputs())
      if (out && are_images_alike(out->type, plain)) out->type.block = op.blocked.writes_plain ? 0 : block_;
  }

  /// The same image, maybe of other channels (a piece of a Split).
  static bool are_images_alike(const Type& a, Type b) {
    if (a.shape.rank() == b.shape.rank() && is_blocked_rank(a.shape.rank())) b.shape.set(1, a.shape[1]);
    return a == b;
  }

  void make_input_blocked(Node& node, size_t input) {
    const OpDef& op = node.op();
    const bool plain = op.blocked.reads_plain && op.blocked.reads_plain(node, input) && node.input(input)->type.block == 0;
    if (!plain) set_layout(node, input, block_);
  }

  /// Element by element on blocks: at least one blocked input, and no other input than tensors of the same shape and scalars.
  static bool can_follow(const Node& node) {
    const Shape& out = node.output()->type.shape;
    if (!is_blocked_rank(out.rank()) || node.outputs().size() != 1) return false;
    bool any_blocked = false;
    for (const Value* v : node.inputs()) {
      if (!v) continue;
      any_blocked |= v->type.block > 0;
      const bool scalar = v->is_constant() && v->constant().count() == 1;
      if (!scalar && (!(v->type.shape == out) || v->is_constant())) return false;
    }
    return any_blocked;
  }

  void follow(Node& node) {
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (node.input(i) && !(node.input(i)->is_constant() && node.input(i)->constant().count() == 1)) set_layout(node, i, block_);
    node.output()->type.block = block_;
  }

  void make_plain(Node& node) {
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (node.input(i)) set_layout(node, i, 0);
  }

  void set_layout(Node& node, size_t slot, int block) {
    Value* v = node.input(slot);
    if (v->type.block != block) graph_.set_input(&node, slot, in_layout(v, block, &node));
  }

  /// The value in the wanted layout: itself, the other side of an earlier reorder, or a new one.
  Value* in_layout(Value* value, int block, Node* before) {
    if (auto it = copies_.find(value); it != copies_.end()) return it->second;
    Attributes attributes;
    attributes.set("block", static_cast<int64_t>(block));
    Node* node = graph_.add_node(reorder_, value->name() + ".reorder", {value}, 1, std::move(attributes), before);
    node->output()->type = value->type;
    node->output()->type.block = block;
    copies_[value] = node->output();
    copies_[node->output()] = value;
    return node->output();
  }

  Graph& graph_;
  const int block_;
  const OpDef& reorder_;
  std::unordered_map<Value*, Value*> copies_;
};

}  // namespace

Status block_layout(Graph& graph, const PassContext& context) {
  if (context.block == 0 || !context.ops.find(kInternalDomain, "Reorder")) return {};
  BlockLayout layout(graph, context);
  for (Node* node : graph.snapshot()) layout.visit(*node);
  layout.finish();
  return {};
}

}  // namespace svengine
