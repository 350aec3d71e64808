// From a parsed and supported GraphProto to the engine's Graph.
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/graph/op_registry.h"
#include "importers/onnx/import.h"
#include "importers/onnx/node_importer.h"
#include "importers/onnx/tensor_source.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

/// Used once: construct and run().
class GraphImporter {
 public:
  /// `model` has passed check_versions() and check_supported() with `ops`. References must outlive the importer.
  GraphImporter(const onnx_proto::ModelProto& model, const OpRegistry& ops, const TensorSource& tensors, const ImportOptions& options)
      : proto_(model.graph()), ops_(ops), tensors_(tensors), overridden_(options.inputs_instead_of_initializers), strict_(options.strict),
        nodes_(model, ops, tensors, nullptr, options.strict) {}

  /// Of what else is wrong, types that operators do not take are told first: the rest may follow from them.
  Result<Graph> run();
  /// After run(): nodes out of order, outputs listed twice, and declared shapes that contradict the nodes.
  std::vector<std::string> warnings() const;

 private:
  /// Types of the inputs by name; names checked and different. Also the order of the nodes.
  Status check_names();
  Status add_all();
  Status add_inputs();
  Status add_initializers();
  Status add_initializer(const std::string& name, Result<Tensor> tensor);
  Status add_nodes();
  /// Takes what the file says of a node's outputs.
  Status declare(const onnx_proto::NodeProto& node);
  std::unordered_map<std::string, Value*>& values() { return scope_.values; }
  Status add_outputs();
  Status add_output(const onnx_proto::ValueInfoProto& info);
  Result<Value*> copy(Value* value, const std::string& name);
  /// A graph output keeps the name in the file, even if something made by the importer has taken it.
  void give_name(Value* value, const std::string& name);
  bool is_overridden(const std::string& name) const;
  /// Of an inner value or output: takes what the declaration says and inference cannot know; a contradiction is told or refused.
  Status take_declaration(const char* what, const onnx_proto::ValueInfoProto& info, const Type& declared, Value* value);

  const onnx_proto::GraphProto& proto_;
  const OpRegistry& ops_;
  const TensorSource& tensors_;
  const std::vector<std::string>& overridden_;
  const bool strict_;
  std::vector<std::string> contradictions_, listed_again_;
  std::unordered_set<std::string> output_names_;
  Graph graph_;
  std::unordered_map<std::string, Type> input_types_;
  std::unordered_map<std::string, const onnx_proto::TensorProto*> initializers_;
  Scope scope_{graph_};
  NodeImporter nodes_;
  std::vector<int> order_;  // of the graph's nodes
  std::unordered_map<std::string, const onnx_proto::ValueInfoProto*> infos_;
};

}  // namespace svengine::onnx
