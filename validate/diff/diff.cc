#include "validate/diff/diff.h"

#include <algorithm>
#include <map>

#include "validate/diff/describe.h"
#include "validate/diff/graph_diff.h"

namespace svengine::validate {
namespace {

using onnx_proto::ModelProto;

/// Texts by name, of which each side has some.
using Entries = std::map<std::string, std::string>;

class ModelDiffer {
 public:
  ModelDiffer(const ModelProto& a, const ModelProto& b, DiffState& state) : a_(a), b_(b), state_(state) {}

  Status run() {
    heads();
    compare_entries(DiffClass::structure, "opset", opsets(a_.opset_import()), opsets(b_.opset_import()));
    compare_entries(DiffClass::metadata, "metadata", entries(a_.metadata_props()), entries(b_.metadata_props()));
    compare_entries(DiffClass::metadata, "quantization annotation", annotations(a_.graph()), annotations(b_.graph()));
    SV_TRY(training());
    const OuterNames outer = [](std::string_view name) { return std::string(name); };
    SV_ASSIGN(state_.report.nodes_matched,
              diff_graphs({&a_.graph(), DiffGraph(a_.graph())}, {&b_.graph(), DiffGraph(b_.graph())}, "", outer, outer, state_));
    return functions();
  }

 private:
  void put(DiffClass kind, const char* subject, const std::string& name, const char* property, const std::string& before,
           const std::string& after, const std::string& scope = {}) {
    if (before == after) return;
    DiffEntry d{.kind = kind, .change = Change::changed, .scope = scope, .subject = subject, .name = name};
    d.change = before.empty() ? Change::added : after.empty() ? Change::removed : Change::changed;
    d.property = property, d.before = before, d.after = after;
    state_.add(std::move(d));
  }

  void heads() {
    put(DiffClass::metadata, "model", "", "ir_version", std::to_string(a_.ir_version()), std::to_string(b_.ir_version()));
    put(DiffClass::metadata, "model", "", "producer_name", a_.producer_name(), b_.producer_name());
    put(DiffClass::metadata, "model", "", "producer_version", a_.producer_version(), b_.producer_version());
    put(DiffClass::metadata, "model", "", "domain", a_.domain(), b_.domain());
    put(DiffClass::metadata, "model", "", "model_version", std::to_string(a_.model_version()), std::to_string(b_.model_version()));
    put(DiffClass::docs, "model", "", "doc", a_.doc_string(), b_.doc_string());
  }

  template <class Imports>
  static Entries opsets(const Imports& imports) {
    Entries out;
    for (const auto& one : imports) out[one.domain().empty() ? "ai.onnx" : one.domain()] = std::to_string(one.version());
    return out;
  }
  template <class Pairs>
  static Entries entries(const Pairs& pairs) {
    Entries out;
    for (const auto& one : pairs) out[one.key()] = one.value();
    return out;
  }
  static Entries annotations(const onnx_proto::GraphProto& graph) {
    Entries out;
    for (const auto& one : graph.quantization_annotation()) {
      std::string& text = out[one.tensor_name()];
      for (const auto& part : one.quant_parameter_tensor_names()) text += (text.empty() ? "" : ", ") + part.key() + " = " + part.value();
    }
    return out;
  }

  void compare_entries(DiffClass kind, const char* subject, const Entries& a, const Entries& b, const std::string& scope = {}) {
    for (const auto& [name, text] : a) {
      const auto at = b.find(name);
      if (at == b.end()) add_entry(kind, Change::removed, subject, name, text, "", scope);
      else if (at->second != text) add_entry(kind, Change::changed, subject, name, text, at->second, scope);
    }
    for (const auto& [name, text] : b)
      if (!a.contains(name)) add_entry(kind, Change::added, subject, name, "", text, scope);
  }

  void add_entry(DiffClass kind, Change change, const char* subject, const std::string& name, const std::string& before,
                 const std::string& after, const std::string& scope) {
    DiffEntry d{.kind = kind, .change = change, .scope = scope, .subject = subject, .name = name};
    d.before = before, d.after = after;
    state_.add(std::move(d));
  }

  Status training() {
    const int count = std::min(a_.training_info_size(), b_.training_info_size());
    if (a_.training_info_size() != b_.training_info_size())
      put(DiffClass::structure, "model", "", "training_info", fmt::format("{} entries", a_.training_info_size()),
          fmt::format("{} entries", b_.training_info_size()));
    for (int i = 0; i < count; ++i) {
      const auto& a = a_.training_info(i);
      const auto& b = b_.training_info(i);
      const std::string scope = fmt::format("training {}", i);
      SV_TRY(graphs(scope + " > initialization", a.initialization(), b.initialization()));
      SV_TRY(graphs(scope + " > algorithm", a.algorithm(), b.algorithm()));
      compare_entries(DiffClass::structure, "initialization binding", entries(a.initialization_binding()),
                      entries(b.initialization_binding()), scope);
      compare_entries(DiffClass::structure, "update binding", entries(a.update_binding()), entries(b.update_binding()), scope);
    }
    return {};
  }

  Status graphs(const std::string& scope, const onnx_proto::GraphProto& a, const onnx_proto::GraphProto& b) {
    const OuterNames outer = [](std::string_view name) { return std::string(name); };
    const Result<int64_t> done = diff_graphs({&a, DiffGraph(a)}, {&b, DiffGraph(b)}, scope, outer, outer, state_);
    if (!done.ok()) return Error(done.error());
    return {};
  }

  static std::map<std::string, const onnx_proto::FunctionProto*> by_key(const ModelProto& model) {
    std::map<std::string, const onnx_proto::FunctionProto*> out;
    for (const auto& one : model.functions()) {
      std::string key = one.domain() + ':' + one.name();
      if (!one.overload().empty()) key += ':' + one.overload();
      out.emplace(std::move(key), &one);
    }
    return out;
  }

  Status functions() {
    const auto of_a = by_key(a_), of_b = by_key(b_);
    for (const auto& [key, function] : of_a) {
      const auto at = of_b.find(key);
      if (at == of_b.end())
        add_entry(DiffClass::structure, Change::removed, "function", key, fmt::format("{} nodes", function->node_size()), "", "");
      else SV_TRY(both(key, *function, *at->second));
    }
    for (const auto& [key, function] : of_b)
      if (!of_a.contains(key))
        add_entry(DiffClass::structure, Change::added, "function", key, "", fmt::format("{} nodes", function->node_size()), "");
    return {};
  }

  Status both(const std::string& key, const onnx_proto::FunctionProto& a, const onnx_proto::FunctionProto& b) {
    const std::string scope = "function " + key;
    put(DiffClass::docs, "function", key, "doc", a.doc_string(), b.doc_string(), scope);
    compare_entries(DiffClass::structure, "opset", opsets(a.opset_import()), opsets(b.opset_import()), scope);
    const auto attributes = [](const onnx_proto::FunctionProto& function, const TensorReader& tensors) {
      Entries out;
      for (const std::string& name : function.attribute()) out[name] = "required";
      for (const auto& attribute : function.attribute_proto()) out[attribute.name()] = "default " + attribute_text(attribute, tensors);
      return out;
    };
    compare_entries(DiffClass::structure, "attribute", attributes(a, state_.tensors_a), attributes(b, state_.tensors_b), scope);
    const OuterNames outer = [](std::string_view name) { return std::string(name); };
    const Result<int64_t> done = diff_graphs({nullptr, DiffGraph(a)}, {nullptr, DiffGraph(b)}, scope, outer, outer, state_);
    if (!done.ok()) return Error(done.error());
    return {};
  }

  const ModelProto& a_;
  const ModelProto& b_;
  DiffState& state_;
};

}  // namespace

std::string_view name_of(DiffClass kind) {
  static constexpr std::string_view kNames[] = {"structure", "weights", "names", "types", "docs", "metadata"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view name_of(Change change) {
  static constexpr std::string_view kNames[] = {"added", "removed", "changed", "renamed"};
  return kNames[static_cast<size_t>(change)];
}

DiffCounts DiffReport::count(std::string_view subject) const {
  DiffCounts out;
  const DiffEntry* last = nullptr;  // what several things of one node, or weight, are different in counts once
  for (const DiffEntry& d : differences) {
    if (d.subject != subject) continue;
    if (d.change == Change::renamed) ++out.renamed;
    else if (d.property.empty() && d.change == Change::added) ++out.added;
    else if (d.property.empty() && d.change == Change::removed) ++out.removed;
    else if (!last || last->name != d.name || last->scope != d.scope) ++out.changed, last = &d;
  }
  return out;
}

Result<DiffReport> diff_models(const onnx::OnnxFile& a, const onnx::OnnxFile& b, const DiffOptions& options) {
  DiffReport report;
  report.nodes_a = a.model().graph().node_size(), report.nodes_b = b.model().graph().node_size();
  report.weights_a = a.model().graph().initializer_size() + a.model().graph().sparse_initializer_size();
  report.weights_b = b.model().graph().initializer_size() + b.model().graph().sparse_initializer_size();
  TensorReader tensors_a(a), tensors_b(b);
  DiffState state{tensors_a, tensors_b, options, report};
  SV_TRY(ModelDiffer(a.model(), b.model(), state).run());
  return report;
}

}  // namespace svengine::validate
