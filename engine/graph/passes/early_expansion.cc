#include "engine/graph/passes/early_expansion.h"

#include <algorithm>

#include "engine/base/random.h"
#include "engine/graph/expand.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/text.h"

namespace svengine {
namespace {

constexpr uint64_t kMostAttempts = 64;                           // to find shapes that the node accepts
constexpr int64_t kPrimes[] = {11, 13, 17, 19, 23, 29, 31, 37};  // nothing divides them, and nothing is equal to them by chance
constexpr int64_t kMostFolded = 4096;                            // bytes: a trial does not compute with weights

/// Sizes for the dimensions that are not known, in the order of unknown_dims.
using Sizes = std::vector<int64_t>;

/// A dimension that is not known: where it is found among a graph's inputs. A symbol may be found at several places.
struct UnknownDim {
  struct Place {
    size_t input, axis;
  };
  std::vector<Place> places;
};

/// A graph of one node like `node`, which is one of `graph`; names are made anew.
Graph alone(const Graph& graph, const Node& node) {
  Graph result;
  std::map<const Value*, Value*> copies;
  std::vector<Value*> inputs;
  for (const Value* v : node.inputs()) {
    if (v && !copies.count(v)) copies[v] = v->is_constant() ? result.add_constant("c", v->constant()) : result.add_input("x", v->type);
    inputs.push_back(v ? copies[v] : nullptr);
  }
  const Node* copy = result.add_node(node.op(), {}, std::move(inputs), node.outputs().size(), node.attributes);
  for (size_t i = 0; i < node.outputs().size(); ++i)
    if (node.output(i) && is_needed(graph, node.output(i))) result.add_output(copy->output(i));
  return result;
}

std::vector<UnknownDim> unknown_dims(const Graph& graph) {
  std::vector<UnknownDim> dims;
  std::map<std::string, size_t> named;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const std::vector<Dim>& shape = graph.inputs()[i]->type.shape.dims();
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis].is_static()) continue;
      size_t place = dims.size();
      if (shape[axis].is_symbolic()) place = named.emplace(shape[axis].symbol(), place).first->second;
      if (place == dims.size()) dims.emplace_back();
      dims[place].places.push_back({i, axis});
    }
  }
  return dims;
}

/// Numbers that may be what a dimension needs to be: those of shapes, and of attributes and what a few heads of such sizes have together.
Sizes likely_sizes(const Graph& graph) {
  Sizes sizes{1, 2, 4, 8};
  for (const auto& node : graph.nodes()) {
    for (const Value* v : node->inputs())
      for (size_t d = 0; v && d < v->type.shape.dims().size(); ++d)
        if (v->type.shape[d].is_static()) sizes.push_back(v->type.shape[d].value());
    for (const auto& [name, attribute] : node->attributes)
      if (const auto* number = std::get_if<int64_t>(&attribute); number && *number > 1 && *number < 4096)
        for (const int64_t factor : {1, 2, 8}) sizes.push_back(*number * factor);
  }
  return sizes;
}

/// The size that dimension `from_last`, counted from the last, has in some input, else a prime: what is added or compared has equal ones.
int64_t usual_size(const Graph& graph, size_t from_last) {
  int64_t size = 1;
  for (const auto& node : graph.nodes())
    for (const Value* v : node->inputs())
      if (const size_t rank = v ? v->type.shape.dims().size() : 0; rank > from_last)
        size = std::max(size, v->type.shape[rank - 1 - from_last].value());
  return size > 1 ? size : kPrimes[from_last % std::size(kPrimes)];
}

/// Attempt 0: the usual sizes. The others: now and then a likely one; the last ones: one likely size for all, of which each is to have another's.
Sizes attempt(uint64_t number, const Graph& graph, const std::vector<UnknownDim>& dims, const Sizes& likely) {
  if (number >= kMostAttempts) return Sizes(dims.size(), likely[number - kMostAttempts]);
  const RandomStream random(number);
  Sizes sizes;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto [input, axis] = dims[i].places.front();
    const bool usual = number == 0 || random.below(2, 2 * i) == 0;
    sizes.push_back(usual ? usual_size(graph, graph.inputs()[input]->type.shape.dims().size() - 1 - axis)
                          : likely[random.below(likely.size(), 2 * i + 1)]);
  }
  return sizes;
}

/// The shapes of the graph's outputs; none where it does not run with these sizes.
std::optional<std::vector<Shape>> outputs_with(const Graph& graph, const std::vector<UnknownDim>& dims, const Sizes& sizes,
                                               const PassContext& context) {
  Graph copy = graph.clone();
  for (size_t i = 0; i < dims.size(); ++i)
    for (const auto [input, axis] : dims[i].places) copy.inputs()[input]->type.shape.set(axis, sizes[i]);
  if (!infer_all(copy).ok() || !expand_composites_now(copy, context).ok() || !fold_constants(copy, context).ok()) return std::nullopt;
  std::vector<Shape> shapes;
  for (const Value* v : copy.outputs()) shapes.push_back(v->type.shape);
  return shapes;
}

bool is_large(const Value& v) { return v.is_constant() && v.constant().byte_size() > static_cast<size_t>(kMostFolded); }

/// Equal texts are equal trials: nothing looks at what large constants hold.
std::string key_of(const Graph& whole) {
  Graph graph = whole.clone();
  graph.for_each_value([&](Value& v) {
    if (is_large(v)) graph.make_input(&v);
  });
  return print_graph(graph);
}

}  // namespace

EarlyExpansion::EarlyExpansion(const PassContext& context) : context_(context) {
  context_.fold_limit_bytes = kMostFolded;
  context_.keeps = [](const Node& node) {
    return std::any_of(node.inputs().begin(), node.inputs().end(), [](const Value* v) { return v && is_large(*v); });
  };
}

bool EarlyExpansion::keeps_refusals(const Graph& graph, const Node& node) {
  bool has_unknown = false;
  for (const Value* v : node.inputs()) {
    if (!v || is_handle(v->type.dtype)) continue;
    if (!v->type.shape.has_rank()) return false;
    has_unknown |= !v->type.shape.is_static();
  }
  if (!has_unknown) return true;
  const Graph whole = alone(graph, node);
  const auto [known, is_new] = known_.try_emplace(key_of(whole), true);
  if (is_new) known->second = try_sizes(whole);
  return known->second;
}

bool EarlyExpansion::try_sizes(const Graph& whole) const {
  const std::vector<UnknownDim> dims = unknown_dims(whole);
  Graph parts = whole.clone();
  if (!infer_all(parts).ok() || !expand_composites_now(parts, context_).ok()) return true;  // said by who expands it
  if (!remove_dead_nodes(parts, context_).ok()) return false;  // nobody will ask those for their refusals
  const auto agree = [&](const Sizes& sizes, const std::optional<std::vector<Shape>>& wanted) {
    const auto made = outputs_with(parts, dims, sizes, context_);
    return !made || made == wanted;
  };
  const Sizes likely = likely_sizes(whole);
  Sizes accepted;
  for (uint64_t i = 0; i < kMostAttempts + likely.size() && accepted.empty(); ++i) {
    const Sizes sizes = attempt(i, whole, dims, likely);
    const auto wanted = outputs_with(whole, dims, sizes, context_);
    if (!agree(sizes, wanted)) return false;
    if (wanted) accepted = sizes;
  }
  for (size_t i = 0; i < accepted.size(); ++i)
    for (const int64_t other : {int64_t{0}, int64_t{1}, accepted[i] + 1, 2 * accepted[i]}) {
      Sizes sizes = accepted;
      sizes[i] = other;
      if (!agree(sizes, outputs_with(whole, dims, sizes, context_))) return false;
    }
  return !accepted.empty();  // where nothing was accepted, nothing is known
}

}  // namespace svengine
