#include "validate/compare/spanned_nodes.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace svengine::validate {
namespace {

constexpr size_t kMostSpanned = 64;

using Names = std::unordered_set<std::string>;

class Spans {
 public:
  Spans(const Graph& model, const Reference& reference) : reference_(reference) {
    model.for_each_value([&](Value& v) { in_file_[v.name()] = &v; });
    for (const auto& node : model.nodes()) order_.emplace(node.get(), order_.size());
  }

  std::vector<const Node*> of(const Step& step) {
    Names begun;  // names of the reference's values that the step's inputs are, or were made of
    for (size_t i = 0; i < step.node->inputs().size(); ++i) {
      const Value* v = step.node->input(i);
      if (!v || v->is_constant()) continue;
      const auto made = made_of_.find(v);
      if (made == made_of_.end()) {
        begun.insert(step.inputs[i]);
        continue;
      }
      begun.insert(made->second.begin(), made->second.end());
    }
    for (size_t i = 0; i < step.outputs.size(); ++i)
      if (!has(step.outputs[i])) made_of_[step.node->output(i)] = begun;
    return between(begun, step);
  }

 private:
  bool has(const std::string& name) const { return !name.empty() && reference_.has(name); }

  /// The nodes behind what the step gives, back to the values of these names.
  std::vector<const Node*> between(const Names& begun, const Step& step) const {
    std::vector<const Node*> found = step.nodes;
    std::unordered_set<const Node*> seen(found.begin(), found.end());
    const auto reach = [&](const Value* v) {
      if (v && v->producer() && !begun.count(v->name()) && seen.insert(v->producer()).second) found.push_back(v->producer());
    };
    for (const std::string& name : step.outputs)
      if (const auto at = in_file_.find(name); at != in_file_.end()) reach(at->second);
    for (size_t i = 0; i < found.size() && found.size() <= kMostSpanned; ++i)
      for (const Value* v : found[i]->inputs()) reach(v);
    if (found.size() > kMostSpanned) return step.nodes;
    std::ranges::sort(found, {}, [&](const Node* node) { return order_.at(node); });
    return found;
  }

  const Reference& reference_;
  std::unordered_map<std::string, const Value*> in_file_;
  std::unordered_map<const Node*, size_t> order_;
  std::unordered_map<const Value*, Names> made_of_;  // of the tested graph: what the reference has not
};

}  // namespace

std::vector<std::vector<const Node*>> spanned_nodes(const Graph& model, const TestedGraph& tested, const Reference& reference) {
  Spans spans(model, reference);
  std::vector<std::vector<const Node*>> nodes;
  for (const Step& step : tested.steps()) nodes.push_back(spans.of(step));
  return nodes;
}

}  // namespace svengine::validate
