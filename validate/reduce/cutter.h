// Parts of a model as models of their own: some of its nodes, what they compute that nobody else takes as outputs, and what they take that
// nobody computes any more as inputs.
//
//     x ─ Conv ─ Relu ─ MatMul ─ Add ─ y        nodes {Relu, MatMul}:      Conv's output ─ Relu ─ MatMul ─ MatMul's output
//                         w      b                                                                w
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "validate/diff/diff_graph.h"

namespace svengine::validate {

struct Cut {
  std::vector<int> nodes;                            // of the model's graph, ascending
  std::set<std::string> dropped_outputs = {};        // though nobody else takes them
  std::set<std::pair<int, std::string>> dropped_attributes = {};
  std::set<std::pair<int, int>> dropped_inputs = {};  // node, slot: optional ones, left out
  std::set<std::string> frozen = {};                 // inputs that are weights instead: the caller puts these in
  auto operator<=>(const Cut&) const = default;
};

struct CutModel {
  onnx_proto::ModelProto model;               // placeholders of tensors as in the original
  std::vector<std::string> inputs, outputs;   // that are to be given, and that it computes
};

class Cutter {
 public:
  /// The type of an inner value, for inputs and outputs; null: it is not known, and the graph cannot be cut there.
  using TypeOf = std::function<std::optional<onnx_proto::ValueInfoProto>(const std::string&)>;

  /// `original` must outlive it.
  Cutter(const onnx_proto::ModelProto& original, TypeOf type_of);

  int node_count() const { return static_cast<int>(graph_.nodes.size()); }
  /// Fails where nothing is left to compute, and where a type is not known.
  Result<CutModel> cut(const Cut& cut) const;

 private:
  struct Ports;
  Result<Ports> ports(const Cut& cut) const;
  Status add_declared(const std::string& name, bool is_input, onnx_proto::GraphProto& graph) const;

  const onnx_proto::ModelProto& original_;
  TypeOf type_of_;
  DiffGraph graph_;
};

}  // namespace svengine::validate
