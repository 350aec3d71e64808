#include "validate/reduce/edit_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

#include "engine/graph/op_def.h"
#include "importers/onnx/export_body.h"

namespace svengine::validate {
namespace {

using onnx_proto::AttributeProto, onnx_proto::GraphProto, onnx_proto::NodeProto, onnx_proto::TensorProto;
using Names = std::map<std::string, std::string, std::less<>>;

void rename_in(GraphProto& graph, Names names);

void rename_reads(NodeProto& node, const Names& names) {
  for (std::string& input : *node.mutable_input())
    if (const auto at = names.find(input); at != names.end()) input = at->second;
  for (AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) rename_in(*attribute.mutable_g(), names);
    for (GraphProto& body : *attribute.mutable_graphs()) rename_in(body, names);
  }
}

/// What a body reads of what is around it; names of its own hide those.
void rename_in(GraphProto& graph, Names names) {
  for (const auto& input : graph.input()) names.erase(input.name());
  for (const auto& weight : graph.initializer()) names.erase(weight.name());
  for (NodeProto& node : *graph.mutable_node()) {
    rename_reads(node, names);
    for (const std::string& output : node.output()) names.erase(output);
  }
  for (auto& output : *graph.mutable_output())
    if (const auto at = names.find(output.name()); at != names.end()) output.set_name(at->second);
}

NodeProto identity(const std::string& from, const std::string& to) {
  NodeProto out;
  out.set_op_type("Identity");
  out.add_input(from);
  out.add_output(to);
  return out;
}

/// What stands for output i of a node that goes.
std::optional<std::string> stand_in(const NodeProto& node, int i) {
  if (i < node.input_size() && !node.input(i).empty()) return node.input(i);
  for (const std::string& input : node.input())
    if (!input.empty()) return input;
  return std::nullopt;
}

std::unordered_set<std::string> computed_by(const GraphProto& graph) {
  std::unordered_set<std::string> out;
  for (const NodeProto& node : graph.node()) out.insert(node.output().begin(), node.output().end());
  return out;
}

bool reads_one_of(const GraphProto& graph, const std::unordered_set<std::string>& names) {
  std::unordered_set<std::string_view> read;
  onnx::note_read_names(graph, read);
  for (const auto& output : graph.output()) read.insert(output.name());
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return read.contains(name); });
}

/// Outputs of nodes that have gone.
void give_outputs(GraphProto& graph, const Names& names) {
  const std::unordered_set<std::string> computed = computed_by(graph);
  std::set<std::string> given;
  for (const auto& output : graph.output()) given.insert(output.name());
  for (auto& output : *graph.mutable_output()) {
    const auto at = names.find(output.name());
    if (at == names.end()) continue;
    output.clear_type();
    if (computed.contains(at->second) && given.insert(at->second).second) output.set_name(at->second);
    else *graph.add_node() = identity(at->second, output.name());
  }
}

TensorProto scalar(const std::string& name, TensorProto::DataType type, int64_t value) {
  TensorProto out;
  out.set_name(name);
  out.set_data_type(type);
  if (type == TensorProto::INT64) out.add_int64_data(value);
  else out.add_int32_data(static_cast<int32_t>(value));
  return out;
}

/// Of a body whose nodes become those of the graph around it.
class Inliner {
 public:
  Inliner(const NodeProto& node, const GraphProto& body, const std::string& attribute)
      : node_(node), body_(body), prefix_((node.name().empty() ? node.output(0) : node.name()) + '/' + attribute + '/') {}

  bool branch() {
    if (body_.output_size() != node_.output_size() || body_.input_size() != 0) return false;
    for (int i = 0; i < body_.output_size(); ++i) outputs_.push_back({body_.output(i).name(), node_.output(i), false});
    return true;
  }

  bool trip() {
    const int carried = body_.input_size() - 2;
    if (carried < 0 || node_.input_size() != carried + 2 || body_.output_size() != node_.output_size() + 1 || carried > node_.output_size())
      return false;
    weights_.push_back(scalar(names_[body_.input(0).name()] = prefix_ + "trip", TensorProto::INT64, 0));
    std::string& condition = names_[body_.input(1).name()] = node_.input(1);
    if (condition.empty()) weights_.push_back(scalar(condition = prefix_ + "condition", TensorProto::BOOL, 1));
    for (int i = 0; i < carried; ++i) names_[body_.input(2 + i).name()] = node_.input(2 + i);
    for (int i = 0; i < node_.output_size(); ++i) outputs_.push_back({body_.output(1 + i).name(), node_.output(i), i >= carried});
    return true;
  }

  /// In the place of node `at`.
  void apply(GraphProto& graph, int at, int opset) {
    name_values();
    std::vector<NodeProto> made(body_.node().begin(), body_.node().end());
    for (NodeProto& node : made) {
      rename_reads(node, names_);
      for (std::string& output : *node.mutable_output())
        if (!output.empty()) output = names_.at(output);
    }
    add_outputs(made, opset);
    for (const auto& weight : body_.initializer()) {
      TensorProto copy = weight;
      copy.set_name(names_.at(weight.name()));
      weights_.push_back(std::move(copy));
    }
    for (TensorProto& weight : weights_) *graph.add_initializer() = std::move(weight);
    google::protobuf::RepeatedPtrField<NodeProto> nodes;
    for (int i = 0; i < graph.node_size(); ++i) {
      if (i != at) *nodes.Add() = graph.node(i);
      else for (NodeProto& node : made) *nodes.Add() = std::move(node);
    }
    graph.mutable_node()->Swap(&nodes);
  }

 private:
  struct Output {
    std::string inner, outer;
    bool stacked = false;  // of every trip, one behind the other
  };

  void name_values() {
    std::set<std::string_view> computed;
    for (const NodeProto& node : body_.node())
      for (const std::string& output : node.output()) names_[output] = prefix_ + output, computed.insert(output);
    for (const auto& weight : body_.initializer()) names_[weight.name()] = prefix_ + weight.name();
    for (Output& output : outputs_)
      if (!output.outer.empty() && !output.stacked && computed.erase(output.inner)) names_[output.inner] = output.outer;
  }

  void add_outputs(std::vector<NodeProto>& made, int opset) {
    for (const auto& [inner, outer, stacked] : outputs_) {
      const auto known = names_.find(inner);
      const std::string& from = known == names_.end() ? inner : known->second;
      if (outer.empty() || from == outer) continue;
      made.push_back(identity(from, outer));
      if (!stacked) continue;
      made.back().set_op_type("Unsqueeze");
      if (opset >= 13) {
        TensorProto axes = scalar(outer + ".axes", TensorProto::INT64, 0);
        axes.add_dims(1);
        made.back().add_input(axes.name());
        weights_.push_back(std::move(axes));
      } else {
        AttributeProto* axes = made.back().add_attribute();
        axes->set_name("axes"), axes->set_type(AttributeProto::INTS), axes->add_ints(0);
      }
    }
  }

  const NodeProto node_;
  const GraphProto body_;
  const std::string prefix_;
  Names names_;
  std::vector<Output> outputs_;
  std::vector<TensorProto> weights_;
};

}  // namespace

void for_each_graph(GraphProto& graph, const std::function<void(GraphProto&)>& visit) {
  visit(graph);
  for (NodeProto& node : *graph.mutable_node())
    for (AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) for_each_graph(*attribute.mutable_g(), visit);
      for (GraphProto& body : *attribute.mutable_graphs()) for_each_graph(body, visit);
    }
}

bool bypass(GraphProto& graph, const std::vector<int>& kept) {
  Names names;
  std::unordered_set<std::string> lost;
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  for (int n = 0; n < graph.node_size(); ++n) {
    NodeProto node = graph.node(n);
    rename_reads(node, names);
    if (std::binary_search(kept.begin(), kept.end(), n)) {
      *nodes.Add() = std::move(node);
      continue;
    }
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      if (const std::optional<std::string> instead = stand_in(node, i)) names[node.output(i)] = *instead;
      else lost.insert(node.output(i));
    }
  }
  graph.mutable_node()->Swap(&nodes);
  graph.clear_value_info();
  give_outputs(graph, names);
  return lost.empty() || !reads_one_of(graph, lost);
}

bool inline_body(GraphProto& graph, int node, const std::string& attribute, int opset) {
  const NodeProto& from = graph.node(node);
  if (!canonical_domain(from.domain()).empty()) return false;
  for (const AttributeProto& a : from.attribute()) {
    if (a.name() != attribute || !a.has_g() || a.g().sparse_initializer_size()) continue;
    Inliner inliner(from, a.g(), attribute);
    if (!(from.op_type() == "If" ? inliner.branch() : from.op_type() == "Loop" && inliner.trip())) return false;
    inliner.apply(graph, node, opset);
    return true;
  }
  return false;
}

void drop_unread(GraphProto& graph) {
  const auto is_read = [&] {
    std::unordered_set<std::string> out;
    std::unordered_set<std::string_view> read;
    onnx::note_read_names(graph, read);
    // Outputs of bodies may be weights and values from around them.
    for_each_graph(graph, [&](GraphProto& g) {
      for (const auto& output : g.output()) read.insert(output.name());
    });
    for (const std::string_view name : read) out.emplace(name);
    return out;
  };
  for (bool again = true; again;) {
    const auto read = is_read();
    auto& nodes = *graph.mutable_node();
    const auto dead = [&](const NodeProto& node) {
      return std::none_of(node.output().begin(), node.output().end(), [&](const std::string& name) { return read.contains(name); });
    };
    const auto end = std::remove_if(nodes.begin(), nodes.end(), dead);
    again = end != nodes.end();
    nodes.erase(end, nodes.end());
  }
  const auto read = is_read();
  const auto unread = [&](const auto& it) { return !read.contains(it.name()); };
  auto& weights = *graph.mutable_initializer();
  weights.erase(std::remove_if(weights.begin(), weights.end(), unread), weights.end());
  auto& inputs = *graph.mutable_input();
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), unread), inputs.end());
  auto& infos = *graph.mutable_value_info();
  infos.erase(std::remove_if(infos.begin(), infos.end(), unread), infos.end());
}

}  // namespace svengine::validate
