// Bodies of control flow as ONNX has them: captured values are no inputs, but names of the graphs around.
#pragma once
#include <string_view>
#include <unordered_set>

#include "engine/graph/graph.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

/// Name and type of a graph's input or output.
Status export_value_info(const Value& value, onnx_proto::ValueInfoProto& out);

/// The types of what the nodes of `graph` give and `out` does not list as an output already: other readers do not infer the types of
/// every operator, and ONNX Runtime, whose schemas of com.microsoft leave some out, loads no model that says none of these either.
Status add_value_info(const Graph& graph, onnx_proto::GraphProto& out);

/// Names that nodes of the graph read, within bodies too; views of the graph's strings.
void note_read_names(const onnx_proto::GraphProto& graph, std::unordered_set<std::string_view>& out);

/// Nodes of one graph whose names are there already get a number behind them: ONNX Runtime refuses two of one name.
void make_node_names_unique(onnx_proto::GraphProto& graph);

/// The names of a graph's values, which it must outlive unchanged, and of those of the graphs around it: a body's own may be none of these.
class NameScope {
 public:
  explicit NameScope(const Graph& graph, const NameScope* around = nullptr);
  bool has(std::string_view name) const { return own_.contains(name) || (around_ && around_->has(name)); }

 private:
  std::unordered_set<std::string_view> own_;
  const NameScope* around_;
};

/// Body `name` of a node whose values have the names they get in the file. The body's own values are called after node and body, so
/// that they hide none of those around.
Result<onnx_proto::GraphProto> export_body(const Node& node, const std::string& name, const Graph& body, int opset, const NameScope& around);

}  // namespace svengine::onnx
