// Which nodes of a region compute on stored values is a question of a minimum cut: the nodes on the one side do, those on the other do
// not, and what is cut are Transposes, each at the number of its elements. A value that is needed both ways is transposed once, however many
// read it. Transposes at the border belong to both sides: one that reads a stored value merges with what it would be read by.
#include <algorithm>

#include "engine/graph/passes/match.h"
#include "engine/graph/passes/transposes.h"

namespace svengine {
namespace {

/// What broadcasts and reductions bear, whatever the order of dimensions (kernels::kMaxBroadcastDims, kReduceDims).
constexpr int64_t kMostDims = 8;

/// A step takes as long as moving so many elements: 63 ns (41 Transposes of [3, 4] behind one another against one, `svengine bench --threads 1`,
/// avx512 on the Xeon of bench/NOTES.md), in which Transposes of 5,000 move 200.
constexpr int64_t kStepElements = 200;

bool may_be_stored(const Value* v) {
  return v && kDenseTypes.has(v->type.dtype) && v->type.shape.is_static() && v->type.shape.rank() <= kMostDims && v->type.block == 0;
}

const Node* transpose_behind(const Value* v) { return producer_if(v, "Transpose"); }

/// All that reads stored values, and all outputs, are of the ranks that the operator took them for.
bool fits(const Node& node, const TransposedNode& form) {
  for (size_t i = 0; i < node.inputs().size(); ++i)
    if (!form.inputs[i].empty() && (!may_be_stored(node.input(i)) || node.input(i)->type.shape.rank() > std::ssize(form.inputs[i]))) return false;
  for (size_t i = 0; i < node.outputs().size(); ++i)
    if (!may_be_stored(node.output(i)) || (!form.outputs[i].empty() && node.output(i)->type.shape.rank() != std::ssize(form.outputs[i])))
      return false;
  return true;
}

/// Every input of the node that is this value is read by it as Transpose(x, perm) at no cost.
bool takes(const Node& node, const Value* value, const Permutation& perm) {
  if (!node.op().traits.takes_transpose) return false;
  for (size_t i = 0; i < node.inputs().size(); ++i)
    if (node.input(i) == value && !node.op().traits.takes_transpose(node, i, perm)) return false;
  return true;
}

}  // namespace

std::optional<Permutation> permutation_of(const Node& transpose) {
  const int64_t rank = transpose.input(0)->type.shape.rank();
  if (rank < 0) return std::nullopt;
  const auto* given = transpose.attributes.get<std::vector<int64_t>>("perm");
  Permutation perm = every_axis(rank);
  if (!given) std::reverse(perm.begin(), perm.end());
  else if (const auto stored = stored_axes(*given, perm); stored && std::ssize(*stored) == rank) perm = *stored;
  else return std::nullopt;
  return perm;
}

int64_t transposed_elements(const Shape& shape, const Permutation& perm) {
  int64_t count = 1, last = -1;
  bool moves = false;
  for (int64_t i : perm) {
    const int64_t extent = shape[static_cast<size_t>(i)].value();
    count *= extent;
    if (extent == 1) continue;
    moves |= i < last;
    last = i;
  }
  return moves ? count : 0;
}

int64_t transpose_cost(const Shape& shape, const Permutation& perm) {
  const int64_t elements = transposed_elements(shape, perm);
  return elements > 0 ? elements + kStepElements : 0;
}

bool is_taken(const Graph& graph, const Value* transposed, const Permutation& perm) {
  const std::vector<Node*>& users = transposed->users();
  return !graph.is_output(transposed) && std::all_of(users.begin(), users.end(), [&](const Node* user) { return takes(*user, transposed, perm); });
}

TransposeRegion::TransposeRegion(const Graph& graph, Value* seed, Permutation perm) : graph_(graph) {
  add_value(seed, perm);
  for (size_t i = 0; i < values_.size(); ++i) {
    Value* v = values_[i];
    if (v->producer()) try_node(v->producer(), v);
    for (Node* user : v->users()) try_node(user, v);
  }
}

void TransposeRegion::add_value(Value* value, const Permutation& perm) {
  if (may_be_stored(value) && !value->is_constant() && stored_.emplace(value, perm).second) values_.push_back(value);
}

void TransposeRegion::try_node(Node* node, const Value* value) {
  if (!node->op().traits.transposed || mover_of_.count(node)) return;
  const Permutation& perm = stored_.at(value);
  std::optional<TransposedNode> form = node->op().traits.transposed(*node, perm);
  if (!form || !fits(*node, *form)) return;
  bool meets = reads_stored(*node, *form, value);
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    const auto it = stored_.find(node->output(i));
    if (it != stored_.end() && it->second != form->outputs[i]) return;
    meets |= node->output(i) == value;
  }
  if (!meets) return;
  for (size_t i = 0; i < node->inputs().size(); ++i)
    if (node->input(i) && node->input(i)->type.shape.rank() == std::ssize(form->inputs[i])) add_value(node->input(i), form->inputs[i]);
  for (size_t i = 0; i < node->outputs().size(); ++i)
    if (!form->outputs[i].empty()) add_value(node->output(i), form->outputs[i]);
  mover_of_[node] = movers_.size();
  movers_.push_back({node, *std::move(form)});
}

/// Every input that is this value is read stored as the region stores it.
bool TransposeRegion::reads_stored(const Node& node, const TransposedNode& form, const Value* value) const {
  bool any = false;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    if (node.input(i) != value) continue;
    any = true;
    if (form.inputs[i] != stored_.at(value)) return false;
  }
  return any;
}

/// Of inputs that the region does not store, or not so: broadcast ones of lower rank.
int64_t TransposeRegion::further_cost(const Mover& mover) const {
  int64_t sum = 0;
  for (size_t i = 0; i < mover.node->inputs().size(); ++i) {
    const Value* v = mover.node->input(i);
    if (!v || v->is_constant() || mover.form.inputs[i].empty()) continue;
    if (const auto it = stored_.find(v); it != stored_.end() && it->second == mover.form.inputs[i]) continue;
    std::vector<Dim> dims = v->type.shape.dims();
    dims.insert(dims.begin(), mover.form.inputs[i].size() - dims.size(), Dim(1));
    sum += transpose_cost(Shape(std::move(dims)), inverse(mover.form.inputs[i]));
  }
  return sum;
}

/// Vertex `is_stored` is on the source's side, that of stored values, when the value is needed stored, `is_plain` on the sink's when it is needed
/// as it is.
void TransposeRegion::add_producer(MinCut& cut, const Value* value, size_t is_stored, size_t is_plain) const {
  const Permutation back = inverse(stored_.at(value));
  const int64_t cost = transpose_cost(value->type.shape, back);
  const Node* producer = value->producer();
  if (const auto it = mover_of_.find(producer); producer && it != mover_of_.end()) {
    cut.add_arc(is_stored, movers_[it->second].vertex, cost);
    cut.add_arc(movers_[it->second].vertex, is_plain, cost);
    return;
  }
  const Node* transpose = transpose_behind(value);
  const auto perm = transpose ? permutation_of(*transpose) : std::nullopt;
  if (perm && !stored_.count(transpose->input(0))) {
    cut.add_arc(is_stored, MinCut::kSink, transpose_cost(transpose->input(0)->type.shape, composed(*perm, back)));
    cut.add_arc(MinCut::kSource, is_plain, transpose_cost(transpose->input(0)->type.shape, *perm));
  } else {
    cut.add_arc(is_stored, MinCut::kSink, cost);
  }
}

/// A Transpose that reads the value reads whichever form is the better one.
void TransposeRegion::add_transpose(MinCut& cut, const Value* value, const Node& transpose, size_t is_stored, size_t is_plain) const {
  const Permutation perm = *permutation_of(transpose), from_stored = composed(stored_.at(value), perm);
  const Value* out = transpose.output();
  const size_t vertex = cut.add_vertex();
  cut.add_arc(vertex, is_stored, MinCut::kInfinite);
  cut.add_arc(is_plain, vertex, MinCut::kInfinite);
  if (!is_taken(graph_, out, perm)) cut.add_arc(MinCut::kSource, vertex, transpose_cost(value->type.shape, perm));
  if (is_taken(graph_, out, from_stored)) return;
  const Shape& plain = value->type.shape;
  std::vector<Dim> dims;
  for (int64_t i : inverse(stored_.at(value))) dims.push_back(plain[static_cast<size_t>(i)]);
  cut.add_arc(vertex, MinCut::kSink, transpose_cost(Shape(std::move(dims)), from_stored));
}

void TransposeRegion::add_users(MinCut& cut, const Value* value, size_t is_stored, size_t is_plain) const {
  if (graph_.is_output(value)) cut.add_arc(is_plain, MinCut::kSink, MinCut::kInfinite);
  for (const Node* user : value->users()) {
    const auto it = mover_of_.find(user);
    if (it != mover_of_.end() && reads_stored(*user, movers_[it->second].form, value)) {
      cut.add_arc(movers_[it->second].vertex, is_stored, MinCut::kInfinite);
      cut.add_arc(is_plain, movers_[it->second].vertex, MinCut::kInfinite);
    } else if (is_op(user, "Transpose") && permutation_of(*user)) {
      add_transpose(cut, value, *user, is_stored, is_plain);
    } else if (!takes(*user, value, stored_.at(value))) {
      cut.add_arc(is_plain, MinCut::kSink, MinCut::kInfinite);
    }
  }
}

bool TransposeRegion::decide() {
  MinCut cut;
  for (Mover& m : movers_) m.vertex = cut.add_vertex();
  for (const Mover& m : movers_) cut.add_arc(m.vertex, MinCut::kSink, further_cost(m));
  for (const Value* v : values_) {
    const size_t is_stored = cut.add_vertex(), is_plain = cut.add_vertex();
    add_producer(cut, v, is_stored, is_plain);
    add_users(cut, v, is_stored, is_plain);
  }
  const std::vector<bool> with_source = cut.solve();
  for (Mover& m : movers_) m.moves = with_source[m.vertex];
  return std::any_of(movers_.begin(), movers_.end(), [](const Mover& m) { return m.moves; });
}

}  // namespace svengine
