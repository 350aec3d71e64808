#include "validate/reduce/cutter.h"

#include <algorithm>
#include <unordered_set>

#include "importers/io/names.h"
#include "importers/onnx/functions.h"

namespace svengine::validate {
namespace {

using onnx_proto::AttributeProto, onnx_proto::FunctionProto, onnx_proto::GraphProto, onnx_proto::ModelProto, onnx_proto::NodeProto;

size_t at_index(int i) { return static_cast<size_t>(i); }

/// The functions that nodes call, and those that these call.
class CalledFunctions {
 public:
  explicit CalledFunctions(const ModelProto& model) : functions_(model) {}

  void add(const NodeProto& node) {
    for (const AttributeProto& attribute : node.attribute()) {
      for (const NodeProto& inner : attribute.g().node()) add(inner);
      for (const GraphProto& graph : attribute.graphs())
        for (const NodeProto& inner : graph.node()) add(inner);
    }
    const FunctionProto* function = functions_.find(node);
    if (!function || !called.insert(function).second) return;
    for (const NodeProto& inner : function->node()) add(inner);
  }

  std::unordered_set<const FunctionProto*> called;

 private:
  onnx::Functions functions_;
};

NodeProto without(const NodeProto& node, int index, const Cut& cut) {
  NodeProto out = node;
  for (int i = 0; i < out.input_size(); ++i)
    if (cut.dropped_inputs.contains({index, i})) out.set_input(i, "");
  while (out.input_size() > 0 && out.input(out.input_size() - 1).empty()) out.mutable_input()->RemoveLast();
  auto& attributes = *out.mutable_attribute();
  for (int i = attributes.size(); i-- > 0;)
    if (cut.dropped_attributes.contains({index, attributes.Get(i).name()})) attributes.DeleteSubrange(i, 1);
  return out;
}

}  // namespace

struct Cutter::Ports {
  std::vector<int> inputs, outputs;        // values
  std::unordered_set<std::string_view> weights;  // names that are used
};

Cutter::Cutter(const ModelProto& original, TypeOf type_of) : original_(original), type_of_(std::move(type_of)), graph_(original.graph()) {}

Result<Cutter::Ports> Cutter::ports(const Cut& cut) const {
  std::vector<bool> kept(graph_.nodes.size()), taken(graph_.values.size());
  for (const int n : cut.nodes) kept[at_index(n)] = true;
  Ports out;
  std::vector<int> cut_inputs;
  for (const int n : cut.nodes) {
    const std::vector<int>& inputs = graph_.nodes[at_index(n)].inputs;
    for (size_t slot = 0; slot < inputs.size(); ++slot) {
      const int v = inputs[slot];
      if (v < 0 || cut.dropped_inputs.contains({n, static_cast<int>(slot)}) || taken[at_index(v)]) continue;
      taken[at_index(v)] = true;
      const DiffValue& value = graph_.values[at_index(v)];
      if (value.origin == Origin::weight) out.weights.insert(value.name);
      if (value.origin == Origin::node && !kept[at_index(value.index)]) cut_inputs.push_back(v);
    }
  }
  for (const int v : graph_.inputs)
    if (taken[at_index(v)]) out.inputs.push_back(v);
  out.inputs.insert(out.inputs.end(), cut_inputs.begin(), cut_inputs.end());
  std::vector<bool> listed(graph_.values.size());
  const auto add_output = [&](int v) {
    if (listed[at_index(v)] || cut.dropped_outputs.contains(std::string(graph_.values[at_index(v)].name))) return;
    listed[at_index(v)] = true;
    out.outputs.push_back(v);
  };
  for (const int v : graph_.outputs) {
    const DiffValue& value = graph_.values[at_index(v)];
    if (value.origin == Origin::node && kept[at_index(value.index)]) add_output(v);
  }
  for (const int n : cut.nodes)
    for (const int v : graph_.nodes[at_index(n)].outputs)
      if (v >= 0 && !taken[at_index(v)] && !graph_.values[at_index(v)].uses.empty()) add_output(v);
  if (out.outputs.empty()) return error("nothing is computed any more");
  return out;
}

Status Cutter::add_declared(const std::string& name, bool is_input, GraphProto& graph) const {
  for (const auto& info : is_input ? original_.graph().input() : original_.graph().output()) {
    if (info.name() != name) continue;
    *(is_input ? graph.add_input() : graph.add_output()) = info;
    return {};
  }
  std::optional<onnx_proto::ValueInfoProto> info = type_of_(name);
  if (!info) return error("the type of '{}' is not known", printable(name));
  *(is_input ? graph.add_input() : graph.add_output()) = std::move(*info);
  return {};
}

Result<CutModel> Cutter::cut(const Cut& cut) const {
  SV_ASSIGN(const Ports ports, this->ports(cut));
  CutModel out;
  const GraphProto& from = original_.graph();
  ModelProto& model = out.model;
  model.set_ir_version(original_.ir_version());
  model.set_producer_name(original_.producer_name());
  model.set_producer_version(original_.producer_version());
  *model.mutable_opset_import() = original_.opset_import();
  GraphProto& graph = *model.mutable_graph();
  graph.set_name(from.name());
  CalledFunctions functions(original_);
  for (const int n : cut.nodes) {
    *graph.add_node() = without(from.node(n), n, cut);
    functions.add(from.node(n));
  }
  for (const auto& weight : from.initializer())
    if (ports.weights.contains(weight.name())) *graph.add_initializer() = weight;
  for (const auto& weight : from.sparse_initializer())
    if (ports.weights.contains(weight.values().name())) *graph.add_sparse_initializer() = weight;
  for (const int v : ports.inputs) {
    const std::string name(graph_.values[at_index(v)].name);
    if (cut.frozen.contains(name)) continue;
    SV_TRY(add_declared(name, true, graph));
    if (!ports.weights.contains(name)) out.inputs.push_back(name);
  }
  for (const int v : ports.outputs) {
    out.outputs.emplace_back(graph_.values[at_index(v)].name);
    SV_TRY(add_declared(out.outputs.back(), false, graph));
  }
  const std::unordered_set<int> outputs(ports.outputs.begin(), ports.outputs.end());
  for (const auto& info : from.value_info()) {
    const int v = graph_.find(info.name());
    if (v < 0 || graph_.values[at_index(v)].origin != Origin::node) continue;
    const bool is_kept = std::binary_search(cut.nodes.begin(), cut.nodes.end(), graph_.values[at_index(v)].index);
    if (is_kept && !outputs.contains(v)) *graph.add_value_info() = info;
  }
  for (const FunctionProto& function : original_.functions())
    if (functions.called.contains(&function)) *model.add_functions() = function;
  return out;
}

}  // namespace svengine::validate
