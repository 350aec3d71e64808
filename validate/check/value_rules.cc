// Where values come from: one source each, there before it is read, in the graph or one around it.
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "importers/io/names.h"
#include "importers/onnx/support_check.h"
#include "validate/check/context.h"

namespace svengine::validate {
namespace {

constexpr int kGiven = -1;  // an input or initializer

using Sources = std::unordered_map<std::string_view, int>;  // name -> the node that computes it, or kGiven

std::string in_quotes(std::string_view name) { return fmt::format("'{}'", printable(name, 60)); }

/// The strongly connected components of the nodes of one body that have more than one node, by Tarjan's algorithm with a stack of its own.
class Cycles {
 public:
  Cycles(const onnx::NodeProtos& nodes, const Sources& sources)
      : nodes_(nodes), sources_(sources), state_(static_cast<size_t>(nodes.size())) {
    for (int i = 0; i < nodes.size(); ++i)
      if (state_[static_cast<size_t>(i)].index < 0) visit(i);
  }

  const std::vector<std::vector<int>>& list() const { return list_; }
  bool together(int a, int b) const { return state_[static_cast<size_t>(a)].component == state_[static_cast<size_t>(b)].component; }

 private:
  struct State {
    int index = -1, lowest = 0, component = -1, next = 0;
    bool on_stack = false;
  };

  State& at(int node) { return state_[static_cast<size_t>(node)]; }

  void enter(int node) {
    at(node).index = at(node).lowest = count_++;
    at(node).on_stack = true;
    stack_.push_back(node);
    path_.push_back(node);
  }

  void leave(int node) {
    path_.pop_back();
    if (!path_.empty()) at(path_.back()).lowest = std::min(at(path_.back()).lowest, at(node).lowest);
    if (at(node).lowest != at(node).index) return;
    std::vector<int> members;
    do {
      members.push_back(stack_.back());
      at(stack_.back()).on_stack = false, at(stack_.back()).component = components_;
      stack_.pop_back();
    } while (members.back() != node);
    ++components_;
    std::sort(members.begin(), members.end());
    if (members.size() > 1) list_.push_back(std::move(members));
  }

  void visit(int root) {
    enter(root);
    while (!path_.empty()) {
      const int node = path_.back();
      const auto& inputs = nodes_.Get(node).input();
      if (at(node).next == inputs.size()) {
        leave(node);
        continue;
      }
      const auto source = sources_.find(inputs.Get(at(node).next++));
      if (source == sources_.end() || source->second == kGiven) continue;
      if (at(source->second).index < 0)
        enter(source->second);
      else if (at(source->second).on_stack)
        at(node).lowest = std::min(at(node).lowest, at(source->second).index);
    }
  }

  const onnx::NodeProtos& nodes_;
  const Sources& sources_;
  std::vector<State> state_;
  std::vector<int> stack_, path_;
  std::vector<std::vector<int>> list_;
  int count_ = 0, components_ = 0;
};

class ValueRules {
 public:
  explicit ValueRules(Context& context) : c_(context), sources_(context.bodies.size()) {}

  void run() {
    // All sources first: what is read may be defined behind, around or nowhere.
    for (size_t b = 0; b < c_.bodies.size(); ++b) define(b);
    for (size_t b = 0; b < c_.bodies.size(); ++b) check_reads(b), check_outputs(b);
  }

 private:
  const Body& body(size_t b) const { return c_.bodies[b]; }

  /// Whether a body sees a value of the graphs around it: defined there before the node that the body is in.
  bool is_around(size_t b, std::string_view name) const {
    for (const Body* inner = &body(b); inner->parent >= 0; inner = &c_.bodies[static_cast<size_t>(inner->parent)]) {
      const Sources& around = sources_[static_cast<size_t>(inner->parent)];
      const auto found = around.find(name);
      if (found != around.end() && found->second < inner->owner) return true;
    }
    return false;
  }

  void give(size_t b, const std::string& name, const char* what) {
    if (name.empty()) return;
    if (!sources_[b].emplace(name, kGiven).second)
      c_.found.add("value-twice", c_.where(body(b)), fmt::format("{} is an input or initializer already, and {}", in_quotes(name), what));
    else if (is_around(b, name))
      c_.found.add("input-shadowed", c_.where(body(b)), fmt::format("{} {} is a value of the graph around it already", what, in_quotes(name)));
  }

  void define(size_t b) {
    if (const auto* graph = body(b).graph)
      give_graph(b, *graph);
    else
      for (const std::string& name : body(b).function->input()) sources_[b].emplace(name, kGiven);
    for (int i = 0; i < body(b).nodes->size(); ++i)
      for (const std::string& name : body(b).nodes->Get(i).output())
        if (!name.empty()) compute(b, i, name);
  }

  void give_graph(size_t b, const onnx_proto::GraphProto& graph) {
    std::unordered_set<std::string_view> inputs, initializers;
    for (const auto& info : graph.input()) give(b, info.name(), "an input"), inputs.insert(info.name());
    const auto initialize = [&](const std::string& name) {
      if (name.empty()) return;
      if (!initializers.insert(name).second)
        c_.found.add("value-twice", c_.where(body(b)), fmt::format("initializer {} is there twice", in_quotes(name)));
      else if (!inputs.count(name))
        give(b, name, "an initializer");
      if (!inputs.count(name) && c_.model().ir_version() <= 3 && c_.model().ir_version() > 0)
        c_.found.add(
            "initializer-not-input", c_.where(body(b)),
            fmt::format("initializer {} is no input of the graph, as IR version {} demands", in_quotes(name), c_.model().ir_version()));
    };
    for (const auto& tensor : graph.initializer()) initialize(tensor.name());
    for (const auto& sparse : graph.sparse_initializer()) initialize(sparse.values().name());
  }

  void compute(size_t b, int node, const std::string& name) {
    const auto [known, is_new] = sources_[b].emplace(name, node);
    if (!is_new) {
      const std::string other =
          known->second == kGiven ? "is an input or initializer" : fmt::format("{} computes", c_.where(body(b), known->second));
      c_.add("value-twice", body(b), node, fmt::format("computes {}, which {} already", in_quotes(name), other));
    } else if (is_around(b, name)) {
      c_.add("value-shadowed", body(b), node, fmt::format("computes {}, which is a value of the graph around it already", in_quotes(name)));
    }
  }

  void check_reads(size_t b) {
    std::unordered_set<int> forward;  // nodes that read what comes later
    const Sources& own = sources_[b];
    for (int i = 0; i < body(b).nodes->size(); ++i) {
      for (const std::string& name : body(b).nodes->Get(i).input()) {
        if (name.empty()) continue;
        const auto source = own.find(name);
        if (source == own.end() ? is_around(b, name) : source->second < i) continue;
        if (source == own.end())
          undefined(b, i, name);
        else if (source->second == i)
          c_.add("cycle", body(b), i, fmt::format("reads its own output {}", in_quotes(name)));
        else
          forward.insert(i);
      }
    }
    if (!forward.empty()) check_forward(b, forward);
  }

  void undefined(size_t b, int node, const std::string& name) {
    for (const Body* inner = &body(b); inner->parent >= 0; inner = &c_.bodies[static_cast<size_t>(inner->parent)]) {
      const auto& around = sources_[static_cast<size_t>(inner->parent)];
      if (around.count(name)) {
        c_.add("node-order", body(b), node,
               fmt::format("reads {}, which the graph around it computes only in the node of this body or behind it", in_quotes(name)));
        return;
      }
    }
    c_.add("value-undefined", body(b), node, fmt::format("reads {}, which is no input, no initializer and no node's output", in_quotes(name)));
  }

  void check_forward(size_t b, const std::unordered_set<int>& forward) {
    const Cycles cycles(*body(b).nodes, sources_[b]);
    for (const std::vector<int>& members : cycles.list()) {
      std::vector<std::string> names;
      for (const int i : members) {
        c_.refused.insert(&body(b).nodes->Get(i));
        if (names.size() < Findings::kMostNodes) names.push_back(printable(onnx::node_name(body(b).nodes->Get(i), i), 60));
      }
      c_.found.add("cycle", c_.where(body(b), members.front()), fmt::format("{} nodes need each other's results", members.size()),
                   std::move(names));
    }
    for (int i = 0; i < body(b).nodes->size(); ++i) {
      if (!forward.count(i)) continue;
      for (const std::string& name : body(b).nodes->Get(i).input()) {
        const auto source = sources_[b].find(name);
        if (source == sources_[b].end() || source->second <= i || cycles.together(i, source->second)) continue;
        c_.add("node-order", body(b), i,
               fmt::format("reads {}, which {} computes behind it", in_quotes(name), c_.where(body(b), source->second)));
      }
    }
  }

  void check_outputs(size_t b) {
    std::unordered_set<std::string_view> seen;
    const auto check = [&](const std::string& name) {
      if (name.empty()) return;
      if (!seen.insert(name).second && body(b).graph)
        c_.found.add("output-twice", c_.where(body(b)), fmt::format("output {} is listed twice", in_quotes(name)));
      if (sources_[b].count(name)) return;
      const char* why =
          is_around(b, name) ? "is a value of the graph around it; an Identity node gives it a name here" : "is computed by nothing";
      if (body(b).parent >= 0) c_.refused.insert(&c_.bodies[static_cast<size_t>(body(b).parent)].nodes->Get(body(b).owner));
      c_.found.add("output-undefined", c_.where(body(b)), fmt::format("output {} {}", in_quotes(name), why));
    };
    if (const auto* graph = body(b).graph)
      for (const auto& info : graph->output()) check(info.name());
    else
      for (const std::string& name : body(b).function->output()) check(name);
  }

  Context& c_;
  std::vector<Sources> sources_;
};

}  // namespace

void check_values(Context& c) { ValueRules(c).run(); }

}  // namespace svengine::validate
