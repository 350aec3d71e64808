#include "validate/quantize/scheme.h"

#include <algorithm>
#include <string_view>

#include "engine/graph/op_def.h"
#include "engine/graph/passes/match.h"
#include "importers/io/names.h"

namespace svengine::validate {
namespace {

constexpr std::string_view kProducts[] = {"Conv", "ConvTranspose", "MatMul", "Gemm"};
/// The result's elements are elements of input 0.
constexpr std::string_view kMovers[] = {"Reshape", "Flatten", "Transpose", "Squeeze",      "Unsqueeze",    "Slice",   "Gather",
                                        "Expand",  "Tile",    "Identity",  "DepthToSpace", "SpaceToDepth", "MaxPool"};

template <size_t N>
bool is_one_of(const Node* node, const std::string_view (&names)[N]) {
  return std::any_of(std::begin(names), std::end(names), [&](std::string_view name) { return is_op(node, name); });
}

bool is_real(const Value* value) { return value && value->type.dtype == DType::f32; }

/// Text with '*' for any characters, matched greedily from both sides of every star.
bool fits_pattern(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') star = p++, retry = t;
    else if (p < pattern.size() && pattern[p] == text[t]) ++p, ++t;
    else if (star != std::string_view::npos) p = star + 1, t = ++retry;
    else return false;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool is_named(const Node& node, std::string_view pattern) {
  return fits_pattern(pattern, node.name()) || fits_pattern(pattern, node.output()->name());
}

/// What a selector that fits nothing may have meant.
std::string meant(const Graph& graph, const std::string& pattern) {
  for (const auto& node : graph.nodes())
    if (node->output() && is_named(*node, pattern))
      return fmt::format("'{}' is a node of {}, which is not quantised by itself", printable(pattern), node->op().name);
  std::string some;
  constexpr int kShown = 3;
  int shown = 0;
  for (const auto& node : graph.nodes())
    if (is_quantizable(*node) && shown++ < kShown) some += fmt::format("{}'{}'", some.empty() ? "" : ", ", printable(selector_of(graph, *node)));
  return fmt::format("no node that can be quantised is called '{}'; there are {}", printable(pattern),
                     some.empty() ? "none" : some + (shown > kShown ? ", ..." : ""));
}

/// Walks back over Relu and Clip to what an integer operator's bounds can take them into.
const Value* before_bounds(const Graph& graph, const Value* value) {
  while (true) {
    const Node* node = value->producer();
    if (!is_op(node, "Relu") && !is_op(node, "Clip")) return value;
    if (!only_used_once(graph, node->input(0))) return value;
    value = node->input(0);
  }
}

/// A product's result, behind the Relu or Clip that alone reads it.
Value* after_bounds(const Graph& graph, Value* value) {
  while (true) {
    Node* next = only_user_if(graph, value, "Relu");
    if (!next) next = only_user_if(graph, value, "Clip");
    if (!next || next->input(0) != value) return value;
    value = next->output();
  }
}

/// Values, and which of them share their numbers (disjoint sets, by the first element's number).
class Quantized {
 public:
  explicit Quantized(const Graph& graph) : graph_(graph) {}

  void want(Value* value) {
    if (!is_real(value) || value->is_constant() || !numbers_.emplace(value, values_.size()).second) return;
    parents_.push_back(values_.size());
    values_.push_back(value);
  }

  /// Until nothing more follows from what is wanted.
  void close() {
    for (size_t done = 0; done < values_.size();) {
      for (; done < values_.size(); ++done) follow_moves(values_[done]);
      const size_t count = values_.size();
      for (size_t i = 0; i < count; ++i) follow_binary(values_[i]);
    }
  }

  std::vector<std::vector<Value*>> groups() {
    std::unordered_map<size_t, size_t> place;
    std::vector<std::vector<Value*>> out;
    for (size_t i = 0; i < values_.size(); ++i) {
      const auto [it, fresh] = place.emplace(root(i), out.size());
      if (fresh) out.emplace_back();
      out[it->second].push_back(values_[i]);
    }
    return out;
  }

 private:
  size_t root(size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }

  void share(Value* a, Value* b) {
    want(b);
    parents_[root(numbers_.at(b))] = root(numbers_.at(a));
  }

  void follow_moves(Value* value) {
    const Node* node = value->producer();
    const auto computed = [](const Value* v) { return is_real(v) && !v->is_constant(); };
    if (is_op(node, "Concat")) {
      if (std::all_of(node->inputs().begin(), node->inputs().end(), computed))
        for (Value* input : node->inputs()) share(value, input);
    } else if (is_one_of(node, kMovers) && computed(node->input(0)) && !is_needed(graph_, node->output(1))) {
      share(value, node->input(0));
    }
  }

  void follow_binary(const Value* value) {
    const Node* node = before_bounds(graph_, value)->producer();
    if (!is_op(node, "Add") && !is_op(node, "Mul")) return;
    Value *a = node->input(0), *b = node->input(1);
    if (a->is_constant() || b->is_constant() || numbers_.count(a) + numbers_.count(b) == 0) return;
    want(a), want(b);
  }

  const Graph& graph_;
  std::vector<Value*> values_;
  std::vector<size_t> parents_;
  std::unordered_map<const Value*, size_t> numbers_;
};

}  // namespace

bool is_quantizable(const Node& node) {
  return is_one_of(&node, kProducts) && is_real(node.input(0)) && is_real(node.input(1)) &&
         !(node.input(0)->is_constant() && node.input(1)->is_constant());
}

Result<std::vector<Node*>> select_nodes(const Graph& graph, const NodeSelection& selection) {
  std::vector<Node*> all, out;
  for (const auto& node : graph.nodes())
    if (is_quantizable(*node)) all.push_back(node.get());
  for (const std::string& op : selection.only) {
    const auto is_it = [&](const Node* n) { return n->op().name == std::string_view(op); };
    if (std::none_of(all.begin(), all.end(), is_it))
      return error("--only {}: no node of that operator can be quantised; Conv, ConvTranspose, MatMul and Gemm of float32 can", printable(op));
  }
  for (const std::string& pattern : selection.exclude)
    if (std::none_of(all.begin(), all.end(), [&](const Node* n) { return is_named(*n, pattern); }))
      return error("--exclude: {}", meant(graph, pattern));
  for (Node* node : all) {
    const auto excludes = [&](const std::string& pattern) { return is_named(*node, pattern); };
    const auto is_only = [&](const std::string& op) { return node->op().name == std::string_view(op); };
    if (std::any_of(selection.exclude.begin(), selection.exclude.end(), excludes)) continue;
    if (selection.only.empty() || std::any_of(selection.only.begin(), selection.only.end(), is_only)) out.push_back(node);
  }
  return out;
}

std::string selector_of(const Graph& graph, const Node& node) {
  const std::string& name = node.name();
  const bool fits_a_line = name.find_first_of("*\n\r#") == name.npos && !name.empty() && name.back() != ' ' && name.back() != '\t';
  if (!fits_a_line) return node.output()->name();
  const auto is_it = [&](const auto& other) { return is_quantizable(*other) && other.get() != &node && is_named(*other, name); };
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), is_it) ? node.output()->name() : name;
}

Scheme make_scheme(const Graph& graph, std::vector<Node*> products) {
  Quantized quantized(graph);
  for (const Node* node : products) {
    for (Value* operand : {node->input(0), node->input(1)}) quantized.want(operand);
    if (is_op(node, "Conv") || is_op(node, "ConvTranspose")) quantized.want(after_bounds(graph, node->output()));
  }
  quantized.close();
  return {std::move(products), quantized.groups()};
}

}  // namespace svengine::validate
