#include "validate/compare/match_values.h"

#include <algorithm>
#include <unordered_set>

#include "engine/graph/op_def.h"

namespace svengine::validate {
namespace {

bool may_be_same(const Type& a, const Type& b) {
  if (is_handle(a.dtype) != is_handle(b.dtype) || is_float(a.dtype) != is_float(b.dtype)) return false;
  return !a.shape.has_rank() || !b.shape.has_rank() || a.shape.rank() == b.shape.rank();
}

bool same_operator(const Node& a, const Node& b) { return &a.op() == &b.op() && a.outputs().size() == b.outputs().size(); }

bool is_number(const std::string& name) {
  return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

class Matcher {
 public:
  Matcher(const Graph& model, const Graph& reference) : model_(model), reference_(reference) {
    reference.for_each_value([&](Value& v) { there_[v.name()] = &v; });
  }

  ValueMatch run() {
    match_ports(model_.inputs(), reference_.inputs());
    match_ports(model_.outputs(), reference_.outputs());
    for (const auto& node : model_.nodes())
      for (const Value* v : node->outputs()) match_by_name(v);
    out_.by_name = made_by_nodes();
    for (const auto& node : model_.nodes()) match_forwards(*node);
    for (auto node = model_.nodes().rbegin(); node != model_.nodes().rend(); ++node) match_backwards(**node);
    for (const auto& node : model_.nodes()) match_forwards(*node);
    out_.by_place = made_by_nodes() - out_.by_name;
    for (const auto& node : model_.nodes())
      for (const Value* v : node->outputs()) out_.unmatched += !counterpart_.count(v);
    for (const auto& [here, there] : counterpart_) out_.names[here->name()] = there->name();
    return std::move(out_);
  }

 private:
  size_t made_by_nodes() const {
    return static_cast<size_t>(
        std::ranges::count_if(counterpart_, [](const auto& pair) { return pair.first->producer() != nullptr; }));
  }

  bool pair(const Value* here, const Value* there) {
    if (!here || !there || counterpart_.count(here) || taken_.count(there) || there->is_constant()) return false;
    counterpart_[here] = there;
    taken_.insert(there);
    return true;
  }

  const Value* find(const std::string& name) const {
    const auto found = there_.find(name);
    return found == there_.end() ? nullptr : found->second;
  }

  void match_ports(const std::vector<Value*>& here, const std::vector<Value*>& there) {
    const auto port = [&](const Value* v) { return std::ranges::find(there, v) != there.end(); };
    for (const Value* v : here)
      if (const Value* same = find(v->name()); same && port(same)) pair(v, same);
    for (size_t i = 0; i < std::min(here.size(), there.size()); ++i)
      if (may_be_same(here[i]->type, there[i]->type)) pair(here[i], there[i]);
  }

  void match_by_name(const Value* v) {
    const Value* same = find(v->name());
    if (!same || !same->producer() || !may_be_same(v->type, same->type)) return;
    if (is_number(v->name()) && !same_operator(*v->producer(), *same->producer())) return;
    pair(v, same);
  }

  /// Does this node of the reference read what that one of the model does, as far as that is matched, and something that is?
  bool reads_the_same(const Node& here, const Node& there) const {
    if (!same_operator(here, there) || here.inputs().size() != there.inputs().size()) return false;
    bool some = false;
    for (size_t i = 0; i < here.inputs().size(); ++i) {
      const Value *a = here.input(i), *b = there.input(i);
      if (!a != !b) return false;
      const auto known = a ? counterpart_.find(a) : counterpart_.end();
      if (known != counterpart_.end() && known->second != b) return false;
      some = some || known != counterpart_.end();
    }
    return some;
  }

  void match_forwards(const Node& node) {
    if (node.outputs().empty() || counterpart_.count(node.output())) return;
    for (const Value* v : node.inputs()) {
      const auto known = v ? counterpart_.find(v) : counterpart_.end();
      if (known == counterpart_.end()) continue;
      for (const Node* candidate : known->second->users())
        if (!taken_.count(candidate->output()) && reads_the_same(node, *candidate)) return pair_nodes(node, *candidate);
      return;  // the others are read by the same nodes
    }
  }

  void pair_nodes(const Node& here, const Node& there) {
    for (size_t i = 0; i < here.outputs().size(); ++i) pair(here.output(i), there.output(i));
  }

  /// Inputs of a node whose output is matched, made by the same operator.
  void match_backwards(const Node& node) {
    const auto known = node.outputs().empty() ? counterpart_.end() : counterpart_.find(node.output());
    const Node* there = known == counterpart_.end() ? nullptr : known->second->producer();
    if (!there || !same_operator(node, *there) || node.inputs().size() != there->inputs().size()) return;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Value *a = node.input(i), *b = there->input(i);
      if (a && b && a->producer() && b->producer() && same_operator(*a->producer(), *b->producer())) pair(a, b);
    }
  }

  const Graph& model_;
  const Graph& reference_;
  std::unordered_map<std::string, const Value*> there_;
  std::unordered_map<const Value*, const Value*> counterpart_;  // of the model's values
  std::unordered_set<const Value*> taken_;                      // of the reference's
  ValueMatch out_;
};

}  // namespace

ValueMatch match_values(const Graph& model, const Graph& reference) { return Matcher(model, reference).run(); }

}  // namespace svengine::validate
