// The differences of two nodes that belong together, and of two weights.
#pragma once
#include "validate/diff/graph_diff.h"

namespace svengine::validate {

/// Where two nodes stand.
struct NodeScope {
  const DiffSide& a;
  const DiffSide& b;
  const Matching& matching;
  const std::string& text;
  const OuterNames& outer_a;
  const OuterNames& outer_b;

  /// "node 'conv1' (Conv)", "input 'x'", "weight 'w'" or "'v'": where a value comes from.
  std::string source_a(int value) const { return source(a.numbers, value); }
  std::string source_b(int value) const { return source(b.numbers, value); }

 private:
  static std::string source(const DiffGraph& graph, int value);
};

/// Operator, name, attributes, edges, docs; bodies through diff_graphs().
Status diff_nodes(const NodeScope& scope, int a, int b, DiffState& state);

Status diff_weights(const NodeScope& scope, const DiffWeight& a, const DiffWeight& b, DiffState& state);

/// "float32[3x4]", "sparse float32[3x4]".
Result<std::string> weight_type(const DiffWeight& weight, const TensorReader& tensors);

/// What a node is called: its name, or that of its first output.
std::string node_label(const onnx_proto::NodeProto& node);
/// "(x, w) -> (y)".
std::string ports_text(const onnx_proto::NodeProto& node);

}  // namespace svengine::validate
