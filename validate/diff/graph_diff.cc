#include "validate/diff/graph_diff.h"

#include <algorithm>

#include "importers/io/names.h"
#include "validate/diff/describe.h"
#include "validate/diff/node_diff.h"

namespace svengine::validate {
namespace {

using onnx_proto::ValueInfoProto;
using ValueInfos = google::protobuf::RepeatedPtrField<ValueInfoProto>;

class GraphDiffer {
 public:
  GraphDiffer(const DiffSide& a, const DiffSide& b, const Matching& matching, const NodeScope& scope, DiffState& state)
      : a_(a), b_(b), matching_(matching), scope_(scope), state_(state) {}

  Status run() {
    if (a_.graph && b_.graph) texts();
    ports("input", a_.numbers.inputs, b_.numbers.inputs, matching_.inputs);
    ports("output", a_.numbers.outputs, b_.numbers.outputs, matching_.outputs);
    SV_TRY(nodes());
    SV_TRY(weights());
    values();
    if (a_.graph && b_.graph) types();
    return {};
  }

 private:
  DiffEntry difference(DiffClass kind, Change change, const char* subject, std::string_view name) const {
    return {.kind = kind, .change = change, .scope = scope_.text, .subject = subject, .name = std::string(name)};
  }
  const DiffValue& value_a(int v) const { return a_.numbers.values[static_cast<size_t>(v)]; }
  const DiffValue& value_b(int v) const { return b_.numbers.values[static_cast<size_t>(v)]; }

  /// Something that has a text on both sides.
  void compare(DiffClass kind, const char* subject, std::string_view name, const char* property, const std::string& before,
               const std::string& after) {
    if (before != after) changed(kind, subject, name, property, before, after);
  }

  void changed(DiffClass kind, const char* subject, std::string_view name, const char* property, const std::string& before,
               const std::string& after) {
    DiffEntry d = difference(kind, before.empty() ? Change::added : after.empty() ? Change::removed : Change::changed, subject, name);
    d.property = property, d.before = before, d.after = after;
    state_.add(std::move(d));
  }

  void texts() {
    compare(DiffClass::names, "graph", a_.graph->name(), "name", a_.graph->name(), b_.graph->name());
    compare(DiffClass::docs, "graph", a_.graph->name(), "doc", a_.graph->doc_string(), b_.graph->doc_string());
  }

  void ports(const char* subject, const std::vector<int>& of_a, const std::vector<int>& of_b, const Pairs& pairs) {
    const bool is_input = &pairs == &matching_.inputs;
    for (size_t i = 0; i < of_a.size(); ++i) {
      const std::string_view name = value_a(of_a[i]).name;
      if (pairs.of_a[i] < 0) {
        DiffEntry d = difference(DiffClass::structure, Change::removed, subject, name);
        if (const ValueInfoProto* info = declared(a_, is_input, i)) d.before = type_text(info->type());
        state_.add(std::move(d));
        continue;
      }
      const auto j = static_cast<size_t>(pairs.of_a[i]);
      const DiffValue& other = value_b(of_b[j]);
      if (other.name != name) {
        DiffEntry d = difference(DiffClass::names, Change::renamed, subject, name);
        d.new_name = other.name;
        state_.add(std::move(d));
      }
      const ValueInfoProto* info_a = declared(a_, is_input, i);
      const ValueInfoProto* info_b = declared(b_, is_input, j);
      if (info_a && info_b) {
        compare(DiffClass::structure, subject, name, "type", type_text(info_a->type()), type_text(info_b->type()));
        compare(DiffClass::docs, subject, name, "doc", info_a->doc_string(), info_b->doc_string());
      }
      if (!is_input && matching_.values.of_a[static_cast<size_t>(of_a[i])] != of_b[j])
        changed(DiffClass::structure, subject, name, "source", scope_.source_a(of_a[i]), scope_.source_b(of_b[j]));
      if (i > 0 && pairs.of_a[i - 1] > pairs.of_a[i])
        changed(DiffClass::structure, subject, name, "position", std::to_string(i), std::to_string(j));
    }
    for (size_t j = 0; j < of_b.size(); ++j) {
      if (pairs.of_b[j] >= 0) continue;
      DiffEntry d = difference(DiffClass::structure, Change::added, subject, value_b(of_b[j]).name);
      if (const ValueInfoProto* info = declared(b_, is_input, j)) d.after = type_text(info->type());
      state_.add(std::move(d));
    }
  }

  static const ValueInfoProto* declared(const DiffSide& side, bool is_input, size_t i) {
    if (!side.graph) return nullptr;
    return is_input ? &side.graph->input(static_cast<int>(i)) : &side.graph->output(static_cast<int>(i));
  }

  Status nodes() {
    // Removed ones stand before the next one that is in both, added ones likewise.
    size_t next_b = 0;
    const auto add_new = [&](size_t end) {
      for (; next_b < end; ++next_b)
        if (matching_.nodes.of_b[next_b] < 0) state_.add(whole_node(Change::added, *b_.numbers.nodes[next_b].proto));
    };
    for (size_t n = 0; n < a_.numbers.nodes.size(); ++n) {
      const int partner = matching_.nodes.of_a[n];
      if (partner < 0) {
        state_.add(whole_node(Change::removed, *a_.numbers.nodes[n].proto));
        continue;
      }
      add_new(static_cast<size_t>(partner));
      SV_TRY(diff_nodes(scope_, static_cast<int>(n), partner, state_));
    }
    add_new(b_.numbers.nodes.size());
    return {};
  }

  DiffEntry whole_node(Change change, const onnx_proto::NodeProto& node) const {
    DiffEntry d = difference(DiffClass::structure, change, "node", node_label(node));
    d.op = operator_key(node);
    (change == Change::added ? d.after : d.before) = ports_text(node);
    return d;
  }

  Status weights() {
    for (size_t i = 0; i < a_.numbers.weights.size(); ++i) {
      const DiffWeight& from = a_.numbers.weights[i];
      const int partner = matching_.weights.of_a[i];
      if (partner < 0) {
        SV_TRY(whole_weight(Change::removed, from, state_.tensors_a));
        continue;
      }
      const DiffWeight& to = b_.numbers.weights[static_cast<size_t>(partner)];
      if (from.name != to.name) {
        DiffEntry d = difference(DiffClass::names, Change::renamed, "weight", from.name);
        d.new_name = to.name;
        state_.add(std::move(d));
      }
      SV_TRY(diff_weights(scope_, from, to, state_));
    }
    for (size_t j = 0; j < b_.numbers.weights.size(); ++j)
      if (matching_.weights.of_b[j] < 0) SV_TRY(whole_weight(Change::added, b_.numbers.weights[j], state_.tensors_b));
    return {};
  }

  Status whole_weight(Change change, const DiffWeight& weight, const TensorReader& tensors) {
    DiffEntry d = difference(DiffClass::structure, change, "weight", weight.name);
    SV_ASSIGN((change == Change::added ? d.after : d.before), weight_type(weight, tensors));
    state_.add(std::move(d));
    return {};
  }

  void values() {
    for (size_t v = 0; v < a_.numbers.values.size(); ++v) {
      const DiffValue& value = a_.numbers.values[v];
      const int partner = matching_.values.of_a[v];
      if (partner < 0 || value.origin != Origin::node || !value.outputs.empty() || value.name == value_b(partner).name) continue;
      DiffEntry d = difference(DiffClass::names, Change::renamed, "value", value.name);
      d.new_name = value_b(partner).name;
      state_.add(std::move(d));
    }
  }

  /// Declared types of inner values. One side often has none at all, which is one difference, not one a value.
  void types() {
    std::unordered_map<std::string_view, const ValueInfoProto*> of_b;
    for (const auto& info : b_.graph->value_info()) of_b.emplace(info.name(), &info);
    int64_t only_a = 0, both = 0;
    for (const auto& info : a_.graph->value_info()) {
      const int v = a_.numbers.find(info.name());
      const int partner = v < 0 ? -1 : matching_.values.of_a[static_cast<size_t>(v)];
      const auto at = partner < 0 ? of_b.end() : of_b.find(value_b(partner).name);
      if (at == of_b.end()) {
        ++only_a;
        continue;
      }
      ++both;
      compare(DiffClass::types, "value", info.name(), "type", type_text(info.type()), type_text(at->second->type()));
      compare(DiffClass::docs, "value", info.name(), "doc", info.doc_string(), at->second->doc_string());
    }
    const int64_t only_b = static_cast<int64_t>(b_.graph->value_info_size()) - both;
    if (only_a + only_b > 0)
      changed(DiffClass::types, "graph", a_.graph->name(), "inner values with a declared type on one side alone", std::to_string(only_a),
              std::to_string(only_b));
  }

  const DiffSide& a_;
  const DiffSide& b_;
  const Matching& matching_;
  const NodeScope& scope_;
  DiffState& state_;
};

}  // namespace

bool DiffState::ignores(DiffClass kind) const {
  return std::find(options.ignored.begin(), options.ignored.end(), kind) != options.ignored.end();
}

void DiffState::add(DiffEntry difference) {
  if (!ignores(difference.kind)) report.differences.push_back(std::move(difference));
}

Result<int64_t> diff_graphs(const DiffSide& a, const DiffSide& b, const std::string& scope, const OuterNames& outer_a,
                            const OuterNames& outer_b, DiffState& state) {
  const MatchContext context{state.tensors_a, state.tensors_b, [&](std::string_view name) { return hash64(outer_a(name)); },
                             [&](std::string_view name) { return hash64(outer_b(name)); }, !state.ignores(DiffClass::weights)};
  SV_ASSIGN(const Matching matching, match_graphs(a.numbers, b.numbers, context));
  const NodeScope node_scope{a, b, matching, scope, outer_a, outer_b};
  SV_TRY(GraphDiffer(a, b, matching, node_scope, state).run());
  return std::count_if(matching.nodes.of_a.begin(), matching.nodes.of_a.end(), [](int b) { return b >= 0; });
}

}  // namespace svengine::validate
