#include "validate/diff/node_diff.h"

#include <algorithm>
#include <map>

#include "importers/io/names.h"
#include "validate/diff/describe.h"

namespace svengine::validate {
namespace {

using onnx_proto::AttributeProto, onnx_proto::NodeProto;

class NodeDiffer {
 public:
  NodeDiffer(const NodeScope& scope, int a, int b, DiffState& state)
      : scope_(scope), node_a_(scope.a.numbers.nodes[static_cast<size_t>(a)]), node_b_(scope.b.numbers.nodes[static_cast<size_t>(b)]),
        a_(*node_a_.proto), b_(*node_b_.proto), state_(state) {}

  Status run() {
    if (operator_key(a_) != operator_key(b_)) put(DiffClass::structure, "operator", operator_key(a_), operator_key(b_));
    if (a_.name() != b_.name()) {
      DiffEntry d = difference(DiffClass::names, Change::renamed);
      d.name = a_.name(), d.new_name = b_.name();
      state_.add(std::move(d));
    }
    if (a_.doc_string() != b_.doc_string()) put(DiffClass::docs, "doc", a_.doc_string(), b_.doc_string());
    SV_TRY(attributes());
    inputs();
    outputs();
    return {};
  }

 private:
  DiffEntry difference(DiffClass kind, Change change) const {
    DiffEntry d{.kind = kind, .change = change, .scope = scope_.text, .subject = "node", .name = node_label(a_)};
    d.op = operator_key(a_);
    if (node_label(b_) != d.name) d.new_name = node_label(b_);
    return d;
  }

  void put(DiffClass kind, std::string property, const std::string& before, const std::string& after) {
    DiffEntry d = difference(kind, before.empty() ? Change::added : after.empty() ? Change::removed : Change::changed);
    d.property = std::move(property), d.before = before, d.after = after;
    state_.add(std::move(d));
  }

  /// What an input or output is, as this side says it; "" where there is none.
  static std::string name_at(const DiffGraph& graph, const std::vector<int>& list, size_t i) {
    return i < list.size() && list[i] >= 0 ? std::string(graph.values[static_cast<size_t>(list[i])].name) : std::string();
  }

  void inputs() {
    const auto own = static_cast<size_t>(std::max(a_.input_size(), b_.input_size()));
    for (size_t i = 0; i < own; ++i) {
      const auto value = [&](const NodeProto& proto, const DiffNode& node) {
        return static_cast<int>(i) < proto.input_size() ? node.inputs[i] : -1;
      };
      const int from = value(a_, node_a_), to = value(b_, node_b_);
      if (from < 0 && to < 0) continue;
      if (from >= 0 && to >= 0 && scope_.matching.values.of_a[static_cast<size_t>(from)] == to) continue;
      put(DiffClass::structure, fmt::format("input {}", i), from < 0 ? "" : scope_.source_a(from), to < 0 ? "" : scope_.source_b(to));
    }
  }

  void outputs() {
    for (size_t i = 0; i < std::max(node_a_.outputs.size(), node_b_.outputs.size()); ++i) {
      const std::string from = name_at(scope_.a.numbers, node_a_.outputs, i), to = name_at(scope_.b.numbers, node_b_.outputs, i);
      if (from.empty() != to.empty()) put(DiffClass::structure, fmt::format("output {}", i), from, to);
    }
  }

  Status attributes() {
    std::map<std::string_view, const AttributeProto*> of_a, of_b;
    for (const AttributeProto& attribute : a_.attribute()) of_a.emplace(attribute.name(), &attribute);
    for (const AttributeProto& attribute : b_.attribute()) of_b.emplace(attribute.name(), &attribute);
    for (const auto& [name, attribute] : of_a) {
      const auto at = of_b.find(name);
      if (at == of_b.end()) put(DiffClass::structure, property(name), attribute_text(*attribute, state_.tensors_a), "");
      else SV_TRY(both(*attribute, *at->second));
    }
    for (const auto& [name, attribute] : of_b)
      if (!of_a.contains(name)) put(DiffClass::structure, property(name), "", attribute_text(*attribute, state_.tensors_b));
    return {};
  }

  static std::string property(std::string_view name) { return fmt::format("attribute '{}'", name); }

  Status both(const AttributeProto& a, const AttributeProto& b) {
    if (a.doc_string() != b.doc_string()) put(DiffClass::docs, property(a.name()) + " doc", a.doc_string(), b.doc_string());
    if (a.has_g() && b.has_g()) return bodies(a.name(), a.g(), b.g());
    if (a.graphs_size() > 0 && a.graphs_size() == b.graphs_size()) {
      for (int i = 0; i < a.graphs_size(); ++i) SV_TRY(bodies(fmt::format("{}[{}]", a.name(), i), a.graphs(i), b.graphs(i)));
      return {};
    }
    if (a.has_t() && b.has_t() && a.ref_attr_name().empty() && b.ref_attr_name().empty()) return tensors(a, b);
    SV_ASSIGN(const bool equal, have_equal_values(a, b));
    if (!equal) put(DiffClass::structure, property(a.name()), attribute_text(a, state_.tensors_a), attribute_text(b, state_.tensors_b));
    return {};
  }

  /// Of attributes without bodies: the messages but for name and doc, tensors by their content.
  Result<bool> have_equal_values(const AttributeProto& a, const AttributeProto& b) const {
    if (a.has_t() != b.has_t() || a.tensors_size() != b.tensors_size() || a.sparse_tensors_size() != b.sparse_tensors_size()) return false;
    for (int i = 0; i < a.tensors_size(); ++i) {
      SV_ASSIGN(const bool equal, have_equal_content(a.tensors(i), b.tensors(i)));
      if (!equal) return false;
    }
    const auto sparse = [&](const onnx_proto::SparseTensorProto& x, const onnx_proto::SparseTensorProto& y) -> Result<bool> {
      if (!std::equal(x.dims().begin(), x.dims().end(), y.dims().begin(), y.dims().end())) return false;
      SV_ASSIGN(const bool values, have_equal_content(x.values(), y.values()));
      SV_ASSIGN(const bool indices, have_equal_content(x.indices(), y.indices()));
      return values && indices;
    };
    for (int i = 0; i < a.sparse_tensors_size(); ++i) {
      SV_ASSIGN(const bool equal, sparse(a.sparse_tensors(i), b.sparse_tensors(i)));
      if (!equal) return false;
    }
    if (a.has_sparse_tensor() && b.has_sparse_tensor()) {
      SV_ASSIGN(const bool equal, sparse(a.sparse_tensor(), b.sparse_tensor()));
      if (!equal) return false;
    }
    return without_tensors(a) == without_tensors(b);
  }

  Result<bool> have_equal_content(const onnx_proto::TensorProto& a, const onnx_proto::TensorProto& b) const {
    SV_ASSIGN(const StoredTensor x, state_.tensors_a.read(a));
    SV_ASSIGN(const StoredTensor y, state_.tensors_b.read(b));
    return compare_weights(x, y, 0).equal;
  }

  static std::string without_tensors(AttributeProto attribute) {
    attribute.clear_tensors(), attribute.clear_sparse_tensors(), attribute.clear_doc_string(), attribute.clear_t();
    if (attribute.has_sparse_tensor()) attribute.mutable_sparse_tensor()->Clear();
    return attribute.SerializeAsString();
  }

  Status tensors(const AttributeProto& a, const AttributeProto& b) {
    SV_ASSIGN(const StoredTensor x, state_.tensors_a.read(a.t()));
    SV_ASSIGN(const StoredTensor y, state_.tensors_b.read(b.t()));
    WeightVerdict verdict = compare_weights(x, y, state_.options.atol);
    if (verdict.equal) return {};
    const bool elements = x.type == y.type;  // Constant nodes hold weights as initializers do
    DiffEntry d = difference(elements ? DiffClass::weights : DiffClass::structure, Change::changed);
    d.property = property(a.name());
    d.before = attribute_text(a, state_.tensors_a), d.after = attribute_text(b, state_.tensors_b);
    if (elements) d.weight = std::move(verdict.difference);
    state_.add(std::move(d));
    return {};
  }

  Status bodies(const std::string& name, const onnx_proto::GraphProto& a, const onnx_proto::GraphProto& b) {
    const DiffSide side_a{&a, DiffGraph(a)}, side_b{&b, DiffGraph(b)};
    const std::string where = fmt::format("{}node '{}' > {}", scope_.text.empty() ? "" : scope_.text + " > ", node_label(a_), name);
    const OuterNames outer_a = [&](std::string_view value) {
      const int v = scope_.a.numbers.find(value);
      if (v < 0) return scope_.outer_a(value);
      const int partner = scope_.matching.values.of_a[static_cast<size_t>(v)];
      return partner < 0 ? fmt::format("{} of A", value) : fmt::format("{} > {}", where, partner);
    };
    const OuterNames outer_b = [&](std::string_view value) {
      const int v = scope_.b.numbers.find(value);
      if (v < 0) return scope_.outer_b(value);
      return scope_.matching.values.of_b[static_cast<size_t>(v)] < 0 ? fmt::format("{} of B", value) : fmt::format("{} > {}", where, v);
    };
    const Result<int64_t> done = diff_graphs(side_a, side_b, where, outer_a, outer_b, state_);
    if (!done.ok()) return Error(done.error());
    return {};
  }

  const NodeScope& scope_;
  const DiffNode& node_a_;
  const DiffNode& node_b_;
  const NodeProto& a_;
  const NodeProto& b_;
  DiffState& state_;
};

}  // namespace

std::string NodeScope::source(const DiffGraph& graph, int value) {
  const DiffValue& v = graph.values[static_cast<size_t>(value)];
  if (v.origin != Origin::node)
    return fmt::format("{} '{}'", v.origin == Origin::input ? "input" : v.origin == Origin::weight ? "weight" : "outer value", v.name);
  const NodeProto& node = *graph.nodes[static_cast<size_t>(v.index)].proto;
  return fmt::format("'{}' of {} '{}'", v.name, operator_key(node), node_label(node));
}

std::string node_label(const NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& name : node.output())
    if (!name.empty()) return name;
  return {};
}

std::string ports_text(const NodeProto& node) {
  const auto list = [](const auto& names) {
    std::string out;
    for (int i = 0; i < names.size(); ++i) out += (i ? ", " : "") + names.Get(i);
    return '(' + out + ')';
  };
  return list(node.input()) + " -> " + list(node.output());
}

Status diff_nodes(const NodeScope& scope, int a, int b, DiffState& state) { return NodeDiffer(scope, a, b, state).run(); }

Result<std::string> weight_type(const DiffWeight& weight, const TensorReader& tensors) {
  const onnx_proto::TensorProto& proto = weight.dense ? *weight.dense : weight.sparse->values();
  SV_ASSIGN(const std::string type, tensors.type(proto));
  if (weight.dense) return type;
  return fmt::format("sparse {}[{}]", type.substr(0, type.find('[')),
                     to_string(Dims(weight.sparse->dims().begin(), weight.sparse->dims().end())));
}

Status diff_weights(const NodeScope& scope, const DiffWeight& a, const DiffWeight& b, DiffState& state) {
  DiffEntry d{
      .kind = DiffClass::structure, .change = Change::changed, .scope = scope.text, .subject = "weight", .name = std::string(a.name)};
  if (a.name != b.name) d.new_name = b.name;
  SV_ASSIGN(d.before, weight_type(a, state.tensors_a));
  SV_ASSIGN(d.after, weight_type(b, state.tensors_b));
  if (d.before != d.after) {
    d.property = "type";
    state.add(std::move(d));
    return {};
  }
  if (state.ignores(DiffClass::weights)) return {};
  const auto compare = [&](const onnx_proto::TensorProto& x, const onnx_proto::TensorProto& y, const char* part) -> Status {
    SV_ASSIGN(const StoredTensor from, state.tensors_a.read(x));
    SV_ASSIGN(const StoredTensor to, state.tensors_b.read(y));
    WeightVerdict verdict = compare_weights(from, to, state.options.atol);
    if (verdict.equal) return {};
    DiffEntry found = d;
    found.kind = DiffClass::weights;
    found.property = part;
    found.weight = std::move(verdict.difference);
    state.add(std::move(found));
    return {};
  };
  if (a.dense && b.dense) return compare(*a.dense, *b.dense, "");
  SV_TRY(compare(a.sparse->values(), b.sparse->values(), "values"));
  return compare(a.sparse->indices(), b.sparse->indices(), "indices");
}

}  // namespace svengine::validate
