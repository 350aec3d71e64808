#include "validate/diff/diff_graph.h"

#include <functional>
#include <unordered_set>

#include "engine/graph/op_def.h"

namespace svengine::validate {
namespace {

using onnx_proto::AttributeProto, onnx_proto::GraphProto, onnx_proto::NodeProto;
using Names = std::unordered_set<std::string_view>;

class CaptureFinder {
 public:
  std::vector<std::string_view> found;

  void body(const GraphProto& graph, Names known) {
    for (const auto& input : graph.input()) known.insert(input.name());
    for (const auto& weight : graph.initializer()) known.insert(weight.name());
    for (const auto& weight : graph.sparse_initializer()) known.insert(weight.values().name());
    for (const NodeProto& node : graph.node()) {
      for (const std::string& name : node.input()) use(name, known);
      bodies(node, known);
      for (const std::string& name : node.output()) known.insert(name);
    }
    for (const auto& output : graph.output()) use(output.name(), known);
  }

  void bodies(const NodeProto& node, const Names& known) {
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) body(attribute.g(), known);
      for (const GraphProto& graph : attribute.graphs()) body(graph, known);
    }
  }

 private:
  void use(std::string_view name, const Names& known) {
    if (!name.empty() && !known.contains(name) && seen_.insert(name).second) found.push_back(name);
  }

  Names seen_;
};

}  // namespace

std::vector<std::string_view> captured_names(const NodeProto& node) {
  CaptureFinder finder;
  finder.bodies(node, {});
  return std::move(finder.found);
}

std::string operator_key(const NodeProto& node) {
  const bool standard = canonical_domain(node.domain()).empty();
  std::string key = standard ? node.op_type() : node.domain() + ':' + node.op_type();
  if (!node.overload().empty()) key += ':' + node.overload();
  return key;
}

DiffGraph::DiffGraph(const GraphProto& graph) {
  for (const auto& weight : graph.initializer()) add_weight({weight.name(), &weight, nullptr});
  for (const auto& weight : graph.sparse_initializer()) add_weight({weight.values().name(), nullptr, &weight});
  for (const auto& input : graph.input()) {
    const int v = value(input.name());
    DiffValue& it = values[static_cast<size_t>(v)];
    if (it.origin == Origin::outer) it.origin = Origin::input, it.index = static_cast<int>(inputs.size());
    inputs.push_back(v);
  }
  add_nodes(graph.node());
  for (const auto& output : graph.output()) add_output(output.name());
}

DiffGraph::DiffGraph(const onnx_proto::FunctionProto& function) {
  for (const std::string& input : function.input()) {
    const int v = value(input);
    values[static_cast<size_t>(v)].origin = Origin::input;
    values[static_cast<size_t>(v)].index = static_cast<int>(inputs.size());
    inputs.push_back(v);
  }
  add_nodes(function.node());
  for (const std::string& output : function.output()) add_output(output);
}

int DiffGraph::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? -1 : at->second;
}

int DiffGraph::value(std::string_view name) {
  const auto [at, is_new] = by_name_.emplace(name, static_cast<int>(values.size()));
  if (is_new) values.push_back({.name = name});
  return at->second;
}

void DiffGraph::add_weight(const DiffWeight& weight) {
  const int v = value(weight.name);
  values[static_cast<size_t>(v)].origin = Origin::weight;
  values[static_cast<size_t>(v)].index = static_cast<int>(weights.size());
  weights.push_back(weight);
  weight_values.push_back(v);
}

void DiffGraph::add_output(std::string_view name) {
  const int v = value(name);
  values[static_cast<size_t>(v)].outputs.push_back(static_cast<int>(outputs.size()));
  outputs.push_back(v);
}

void DiffGraph::add_nodes(const google::protobuf::RepeatedPtrField<NodeProto>& protos) {
  nodes.reserve(static_cast<size_t>(protos.size()));
  for (int n = 0; n < protos.size(); ++n) {
    const NodeProto& proto = protos.Get(n);
    DiffNode node{.proto = &proto};
    const auto use = [&](std::string_view name) {
      node.inputs.push_back(name.empty() ? -1 : value(name));
      if (!name.empty()) values[static_cast<size_t>(node.inputs.back())].uses.push_back({n, static_cast<int>(node.inputs.size()) - 1});
    };
    for (const std::string& name : proto.input()) use(name);
    for (const std::string_view name : captured_names(proto)) use(name);
    for (int slot = 0; slot < proto.output_size(); ++slot) {
      const std::string& name = proto.output(slot);
      node.outputs.push_back(name.empty() ? -1 : value(name));
      if (name.empty()) continue;
      DiffValue& made = values[static_cast<size_t>(node.outputs.back())];
      if (made.origin == Origin::outer) made.origin = Origin::node, made.index = n, made.slot = slot;
    }
    nodes.push_back(std::move(node));
  }
}

}  // namespace svengine::validate
