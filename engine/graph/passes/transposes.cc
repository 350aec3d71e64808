// Transposes move through operators to where they cancel, merge, or have fewer elements to move.
//
//   x ─> Transpose to_last ─> Add bias[C] ─> Relu ─> Transpose to_first ─> y     becomes     x ─> Add bias[C,1,1] ─> Relu ─> y
//
// Exporters of networks that are written channels last put them around what ONNX has channels first. OpTraits::transposed says what an
// operator becomes. A region moves as a whole or in part, whichever leaves the fewest elements transposed (transpose_region.cc), and
// not at all where that is how it stands: so no graph gets slower, and patterns that others look for stay where nothing is won.
#include "engine/graph/passes/transposes.h"

#include <algorithm>
#include <map>

#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"

namespace svengine {
namespace {

bool is_identity(const Permutation& perm) { return std::is_sorted(perm.begin(), perm.end()); }

/// Puts the region's nodes that move on stored values.
class RegionRewriter {
 public:
  RegionRewriter(Graph& graph, const PassContext& context, const TransposeRegion& region)
      : graph_(graph), context_(context), region_(region), builder_(graph, context.ops) {}

  Status run() {
    std::unordered_map<const Node*, const TransposeRegion::Mover*> moving;
    for (const auto& m : region_.movers())
      if (m.moves) moving[m.node] = &m;
    std::vector<Node*> nodes;
    for (Node* node : graph_.snapshot())
      if (moving.count(node)) nodes.push_back(node);
    for (Node* node : nodes) SV_TRY(make(*moving[node]));
    std::reverse(nodes.begin(), nodes.end());
    for (Node* node : nodes) SV_TRY(replace(*node));
    return {};
  }

 private:
  Value* add(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {}) {
    return builder_.add(op, std::move(inputs), std::move(attributes));
  }
  Value* transposed(Value* v, const Permutation& perm) { return add("Transpose", {v}, make_attributes({{"perm", perm}})); }

  /// The same on stored values, before the node itself.
  Status make(const TransposeRegion::Mover& mover) {
    Node& node = *mover.node;
    builder_.set_position(&node);
    builder_.set_node_name(node.name());
    std::vector<Value*> inputs = node.inputs();
    inputs.resize(mover.form.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) continue;
      SV_ASSIGN(inputs[i], input_of(inputs[i], mover.form.inputs[i], node));
    }
    for (const auto& [slot, constant] : mover.form.constants) inputs[slot] = builder_.constant(constant, node.name() + ".stored");
    const Node* made = builder_.node(node.op().domain, node.op().name, std::move(inputs), node.outputs().size(), mover.form.attributes);
    SV_TRY(builder_.status());
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      stored_[node.output(i)] = made->output(i);
      plain_perm_[node.output(i)] = mover.form.outputs[i];
    }
    return {};
  }

  /// What the node's stand-in reads: the value stored so, or as it is.
  Result<Value*> input_of(Value* v, const Permutation& perm, Node& node) {
    if (perm.empty()) {
      if (stored_.count(v)) v = plain(*v);
      builder_.set_position(&node);
      SV_TRY(builder_.status());
      return v;
    }
    if (const auto it = stored_.find(v); it != stored_.end()) {
      if (plain_perm_[v] == perm) return it->second;
      v = plain(*v);
      builder_.set_position(&node);
    }
    Value*& copy = copies_[{v, perm}];
    if (copy) return copy;
    SV_ASSIGN(copy, copy_of(v, perm));
    return copy;
  }

  Result<Value*> copy_of(Value* v, const Permutation& perm) {
    const auto missing = static_cast<int64_t>(perm.size()) - v->type.shape.rank();
    if (missing > 0 && v->is_constant()) {
      Dims dims = v->constant().dims();
      dims.insert(dims.begin(), static_cast<size_t>(missing), 1);
      v = builder_.constant(v->constant().reshaped(std::move(dims)), v->name());
    } else if (missing > 0) {
      v = add("Unsqueeze", {v, builder_.constant(integer_list(every_axis(missing)))});
    }
    Value* out = transposed(v, inverse(perm));
    SV_TRY(builder_.status());
    if (!v->is_constant() || !context_.evaluate) return out;
    Node* node = out->producer();
    SV_ASSIGN(std::vector<Tensor> results, context_.evaluate(*node));
    graph_.make_constant(out, std::move(results[0]));
    graph_.erase(node);
    return out;
  }

  /// What one of the moving nodes gives, as it was: made from its stand-in's result, beside it.
  Value* plain(Value& value) {
    Value*& made = plain_[&value];
    builder_.set_position(value.producer());
    const Permutation& perm = plain_perm_[&value];
    if (!made) made = perm.empty() || is_identity(perm) ? stored_[&value] : transposed(stored_[&value], perm);
    return made;
  }

  /// Takes the node out, whose users that move are gone.
  Status replace(Node& node) {
    builder_.set_node_name(node.name());
    for (Value* v : node.outputs()) {
      if (!is_needed(graph_, v)) continue;
      Value* instead = plain(*v);
      SV_TRY(builder_.status());
      if (instead->type != v->type)
        return error("{} would give {} in place of {}", describe(node), to_string(instead->type), to_string(v->type));
      graph_.replace_uses(v, instead);
    }
    graph_.erase(&node);
    return {};
  }

  Graph& graph_;
  const PassContext& context_;
  const TransposeRegion& region_;
  Builder builder_;
  std::unordered_map<const Value*, Value*> stored_, plain_;        // of the outputs of nodes that move
  std::unordered_map<const Value*, Permutation> plain_perm_;       // that make them plain
  std::map<std::pair<Value*, Permutation>, Value*> copies_;        // of inputs of such nodes, stored
};

/// Moves what is round one of the graph's Transposes; false when all are where they should be. Values that a region of this round has held
/// need no other look.
Result<bool> move_one(Graph& graph, const PassContext& context) {
  std::map<std::pair<const Value*, Permutation>, bool> seen;
  for (Node* node : graph.snapshot()) {
    if (!is_op(node, "Transpose")) continue;
    const auto perm = permutation_of(*node);
    if (!perm || is_identity(*perm)) continue;
    for (const auto& [seed, stored] : {std::pair(node->output(), *perm), std::pair(node->input(0), inverse(*perm))}) {
      if (seen.count({seed, stored})) continue;
      TransposeRegion region(graph, seed, stored);
      for (const auto& [value, how] : region.stored()) seen[{value, how}] = true;
      if (!region.decide()) continue;
      SV_TRY(RegionRewriter(graph, context, region).run());
      return true;
    }
  }
  return false;
}

/// A Transpose of a Transpose becomes one, unless the first is there anyway and the second the smaller work.
void merge_with_source(Graph& graph, Node& node, Permutation& perm) {
  while (const Node* before = producer_if(node.input(0), "Transpose")) {
    const auto first = permutation_of(*before);
    const Shape& source = before->input(0)->type.shape;
    if (!first || !source.is_static()) return;
    const Permutation both = composed(*first, perm);
    const bool alone = only_used_once(graph, before->output());
    if (!alone && transpose_cost(source, both) > transpose_cost(node.input(0)->type.shape, perm)) return;
    graph.set_input(&node, 0, before->input(0));
    node.attributes.set("perm", both);
    perm = both;
  }
}

/// Transposes behind one another become one, or none, and so do equal ones.
void merge(Graph& graph) {
  std::map<std::pair<const Value*, Permutation>, Value*> results;
  for (Node* node : graph.snapshot()) {
    if (!is_op(node, "Transpose")) continue;
    auto perm = permutation_of(*node);
    if (!perm) continue;
    merge_with_source(graph, *node, *perm);
    Value *in = node->input(0), *out = node->output();
    Value* same = is_identity(*perm) ? in : results.emplace(std::pair(in, *perm), out).first->second;
    if (same == out || (graph.is_output(out) && (!same->producer() || graph.is_output(same)))) continue;
    graph.replace_uses(out, same);
    graph.erase(node);
  }
}

int64_t transpose_cost(const Graph& graph) {
  int64_t sum = 0;
  for (const auto& node : graph.nodes()) {
    const auto perm = is_op(node.get(), "Transpose") ? permutation_of(*node) : std::nullopt;
    if (perm && node->input(0)->type.shape.is_static() && !is_taken(graph, node->output(), *perm))
      sum += transpose_cost(node->input(0)->type.shape, *perm);
  }
  return sum;
}

/// Transposes that nobody reads any more.
void erase_unused(Graph& graph) {
  std::vector<Node*> nodes = graph.snapshot();
  std::reverse(nodes.begin(), nodes.end());
  for (Node* node : nodes)
    if (is_op(node, "Transpose") && !is_needed(graph, node->output())) graph.erase(node);
}

}  // namespace

Status move_transposes(Graph& graph, const PassContext& context) {
  merge(graph);
  erase_unused(graph);
  // What a region costs is what it costs by itself, and falls each time; the graph's sum says when to end, whatever regions have in common.
  for (int64_t before = transpose_cost(graph), after = 0;; before = after) {
    SV_ASSIGN(const bool moved, move_one(graph, context));
    if (!moved) break;
    merge(graph);
    erase_unused(graph);
    after = transpose_cost(graph);
    if (after >= before) break;
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
