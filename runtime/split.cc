// The values that decide the shapes of the first nodes of the rest (Reshape's shape, Slice's starts, ...) cross the cut; when their turn
// comes, they are constants of the rest, and more shapes are known.
#include "runtime/split.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "engine/graph/evaluate_context.h"
#include "engine/graph/op_def.h"

namespace svengine {
namespace {

using ValueMap = std::unordered_map<const Value*, Value*>;

/// Output shapes may be known without the inputs that otherwise decide them (a scalar's sum, over whatever axes); lowering reads these
/// all the same. A view is not lowered.
bool can_plan(const Node& node) {
  const auto is_static = [](const Value* v) { return v->type.shape.is_static(); };
  if (runs_on_host(node) || !std::all_of(node.outputs().begin(), node.outputs().end(), is_static)) return false;
  const InputSet deciding = node.op().traits.shape_inputs;
  return node.op().traits.is_view || std::all_of(deciding.begin(), deciding.end(), [&](int i) {
    const Value* v = node.input(static_cast<size_t>(i));
    return !v || v->is_constant();
  });
}

bool is_dense(const Value* v) { return !is_handle(v->type.dtype); }

struct Cut {
  std::unordered_set<const Node*> planned, host;
  std::unordered_set<const Value*> in_plan;    // inputs and outputs of planned nodes
  std::unordered_set<const Value*> available;  // the same, and outputs of the host's nodes
  std::unordered_set<const Value*> needed;     // values that decide shapes next
};

Cut find_cut(const Graph& graph) {
  Cut cut;
  cut.in_plan.insert(graph.inputs().begin(), graph.inputs().end());
  cut.available = cut.in_plan;
  const auto all_in = [](const Node& node, const std::unordered_set<const Value*>& set) {
    return std::all_of(node.inputs().begin(), node.inputs().end(), [&](const Value* v) { return !v || v->is_constant() || set.count(v); });
  };
  for (const auto& node : graph.nodes()) {
    if (!all_in(*node, cut.available)) continue;
    const std::vector<Value*>& outputs = node->outputs();
    if (runs_on_host(*node)) {
      cut.host.insert(node.get());
      cut.available.insert(outputs.begin(), outputs.end());
    } else if (!can_plan(*node)) {
      for (int i : node->op().traits.shape_inputs)
        if (const Value* v = node->input(static_cast<size_t>(i)); v && !v->is_constant() && is_dense(v)) cut.needed.insert(v);
    } else if (all_in(*node, cut.in_plan)) {
      cut.planned.insert(node.get());
      cut.in_plan.insert(outputs.begin(), outputs.end());
      cut.available.insert(outputs.begin(), outputs.end());
    }
  }
  return cut;
}

Error no_progress(const Graph& graph) {
  for (const auto& node : graph.nodes())
    if (!can_plan(*node))
      return error("{}: its output shape cannot be determined from its inputs' shapes and values", describe(*node));
  return error("a shape cannot be determined");
}

/// Copies the constants and nodes that `wanted` accepts; `map` holds the values there already.
void copy_nodes(const Graph& from, Graph& to, ValueMap& map, const std::function<bool(const Node&)>& wanted) {
  for (const auto& node : from.nodes()) {
    if (!wanted(*node)) continue;
    std::vector<Value*> inputs;
    for (const Value* v : node->inputs()) {
      if (v && v->is_constant() && !map.count(v)) map[v] = to.add_constant(v->name(), v->constant());
      inputs.push_back(v ? map.at(v) : nullptr);
    }
    std::vector<std::string> names;
    for (const Value* v : node->outputs()) names.push_back(v->name());
    Node* copy = to.add_node(node->op(), node->name(), std::move(inputs), node->outputs().size(), node->attributes,
                             nullptr, names);
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      copy->output(i)->type = node->output(i)->type;
      map[node->output(i)] = copy->output(i);
    }
  }
}

/// Cuts one graph into the three.
class Splitter {
 public:
  Splitter(const Graph& graph, Cut cut, bool share_inputs) : graph_(graph), cut_(std::move(cut)), share_inputs_(share_inputs) {}

  SplitGraph run(const std::vector<size_t>& input_places, size_t input_count) {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) place_[graph_.inputs()[i]] = input_places[i];
    next_place_ = input_count;
    make_prefix();
    make_host();
    make_rest();
    for (const Value* v : graph_.outputs()) out_.outputs.push_back(source_of(v));
    return std::move(out_);
  }

 private:
  bool is_rest(const Node* n) const { return !cut_.planned.count(n) && !cut_.host.count(n); }

  /// Is this value read by any of those nodes?
  template <class Wanted>
  static bool read_by(const Value* v, Wanted wanted) {
    return std::any_of(v->users().begin(), v->users().end(), wanted);
  }

  void make_prefix() {
    ValueMap map;
    const auto planned = [this](const Node* n) { return cut_.planned.count(n) > 0; };
    // An input that is an output is copied by the plan.
    const auto copied = [this](const Value* v) { return !share_inputs_ && is_dense(v) && graph_.is_output(v); };
    for (const Value* v : graph_.inputs()) {
      if (!read_by(v, planned) && !copied(v)) continue;
      map[v] = out_.prefix.add_input(v->name(), v->type);
      out_.prefix_inputs.push_back(place_.at(v));
    }
    copy_nodes(graph_, out_.prefix, map, [&](const Node& n) { return planned(&n); });
    const auto give = [&](const Value* v, std::unordered_map<const Value*, size_t>& place) {
      out_.prefix.add_output(map.at(v));
      place[v] = next_place_++;
    };
    for (const auto& node : graph_.nodes())
      for (const Value* v : node->outputs())
        if (planned(node.get()) && !v->is_constant() &&
            (graph_.is_output(v) || read_by(v, [&](const Node* n) { return !planned(n); })))
          give(v, place_);
    for (const Value* v : graph_.inputs())
      if (copied(v)) give(v, copies_);
    for (const Value* v : graph_.outputs()) {
      if (share_inputs_ || !v->is_constant() || !is_dense(v) || copies_.count(v)) continue;
      if (!map.count(v)) map[v] = out_.prefix.add_constant(v->name(), v->constant());
      give(v, copies_);
    }
  }

  void make_host() {
    ValueMap map;
    const auto host = [this](const Node* n) { return cut_.host.count(n) > 0; };
    for (const auto& node : graph_.nodes()) {
      if (!host(node.get())) continue;
      for (const Value* v : node->inputs()) {
        if (!v || v->is_constant() || map.count(v) || (v->producer() && host(v->producer()))) continue;
        map[v] = out_.host.add_input(v->name(), v->type);
        out_.host_inputs.push_back(place_.at(v));
      }
    }
    copy_nodes(graph_, out_.host, map, [&](const Node& n) { return host(&n); });
    for (const auto& node : graph_.nodes())
      for (const Value* v : node->outputs())
        if (host(node.get()) && (graph_.is_output(v) || read_by(v, [&](const Node* n) { return is_rest(n); }))) {
          out_.host.add_output(map.at(v));
          place_[v] = next_place_++;
        }
  }

  void make_rest() {
    ValueMap map;
    for (const auto& node : graph_.nodes()) {
      if (!is_rest(node.get())) continue;
      for (const Value* v : node->inputs()) {
        if (!v || map.count(v) || !place_.count(v)) continue;
        map[v] = out_.rest.add_input(v->name(), v->type);
        out_.rest_inputs.push_back(place_.at(v));
        out_.rest_needs_value.push_back(cut_.needed.count(v) > 0);
      }
    }
    copy_nodes(graph_, out_.rest, map, [&](const Node& n) { return is_rest(&n); });
    for (const Value* v : graph_.outputs()) {
      if (v->is_constant() || cut_.available.count(v) || rest_output_.count(v)) continue;
      rest_output_[v] = out_.rest.outputs().size();
      out_.rest.add_output(map.at(v));
    }
  }

  OutputSource source_of(const Value* v) const {
    if (const auto copy = copies_.find(v); copy != copies_.end()) return {OutputSource::Kind::table, copy->second};
    if (v->is_constant()) return {OutputSource::Kind::constant, 0, v->constant()};
    if (const auto at = rest_output_.find(v); at != rest_output_.end()) return {OutputSource::Kind::rest, at->second};
    return {OutputSource::Kind::table, place_.at(v)};
  }

  const Graph& graph_;
  const Cut cut_;
  const bool share_inputs_;
  SplitGraph out_;
  std::unordered_map<const Value*, size_t> place_;   // in the table
  std::unordered_map<const Value*, size_t> copies_;  // of inputs and constants that are outputs, in the table
  std::unordered_map<const Value*, size_t> rest_output_;
  size_t next_place_ = 0;
};

}  // namespace

bool is_plannable(const Graph& graph) {
  return std::all_of(graph.inputs().begin(), graph.inputs().end(), is_dense) &&
         std::all_of(graph.outputs().begin(), graph.outputs().end(), is_dense) &&
         std::all_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& n) { return can_plan(*n); });
}

Result<SplitGraph> split_graph(const Graph& graph, const std::vector<size_t>& input_places, size_t input_count, bool share_inputs) {
  Cut cut = find_cut(graph);
  const bool done = cut.planned.size() + cut.host.size() == graph.nodes().size();
  if (!done && cut.needed.empty() && cut.host.empty()) return no_progress(graph);
  return Splitter(graph, std::move(cut), share_inputs).run(input_places, input_count);
}

Result<Graph> plannable_prefix(const Graph& graph) {
  std::vector<size_t> places(graph.inputs().size());
  std::iota(places.begin(), places.end(), size_t{0});
  SV_ASSIGN(SplitGraph split, split_graph(graph, places, places.size(), false));
  return std::move(split.prefix);
}

}  // namespace svengine
