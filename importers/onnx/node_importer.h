// Adds the nodes of a GraphProto, of a body, or of a call of one of the model's functions to a graph.
//
//   Scope of the graph ── values by name
//     ├── Scope of a body, with a Graph of its own: names it does not have are those of the scope around it. What it takes from there
//     │   becomes an input of the body and of its node; a constant becomes one of the body's (the storage is shared).
//     └── Scope of a call, in the same Graph: sees the arguments alone. Its nodes take the place of the call's.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/graph/op_registry.h"
#include "importers/onnx/functions.h"
#include "importers/onnx/order.h"
#include "importers/onnx/refused_types.h"
#include "importers/onnx/tensor_source.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

inline constexpr int kMostNested = 16;                // bodies in bodies, calls in functions, together
inline constexpr int64_t kMostNestedNodes = int64_t{1} << 18;  // of all bodies and calls together: a small file can name many

struct Scope {
  Graph& graph;
  Scope* outer = nullptr;      // of a body
  const Call* call = nullptr;  // within a function
  int depth = 0;
  /// Of a branch of an If, or of what is in one: a node there whose inputs cannot be right leaves its outputs' types unknown, for the
  /// branch may never be taken. Null elsewhere. What is first wrong in the branch is kept there.
  Status* deferred = nullptr;
  bool in_branch = false;      // likewise
  std::string prefix = {};     // of the names of nodes and values within a call
  std::unordered_map<std::string, Value*> values = {};  // null: an argument that is absent
  std::vector<Value*> captured = {};                    // of the scope around a body, in the order of the inputs behind its own

  /// The value of that name, which a body may have to capture first. False: there is none. Absent arguments are null.
  bool find(const std::string& name, Value*& value);
  /// Makes a value of the scope around this body an input.
  Value* capture(Value* outer_value);
};

/// Looks on while nodes are added, for what wants to hear of all that is wrong with a model. With a watcher no node ends the import: the
/// outputs of one that is refused, and all that follow from them, are values of unknown type. Order and names of the nodes are not
/// checked then: that is for the watcher.
class NodeWatcher {
 public:
  virtual ~NodeWatcher() = default;
  /// Whether to leave a node out, so that it cannot be refused. Asked before its bodies are looked at.
  virtual bool leaves_out(const Scope& scope, const onnx_proto::NodeProto& node) = 0;
  /// Of a node in a branch of an If `scope.in_branch` is set: it may never be taken.
  virtual void refused(const Scope& scope, const onnx_proto::NodeProto& node, const Error& problem) = 0;
  /// The node's outputs are in the scope.
  virtual void added(Scope& scope, const onnx_proto::NodeProto& node) = 0;
};

class NodeImporter {
 public:
  /// As GraphImporter. References must outlive the importer.
  NodeImporter(const onnx_proto::ModelProto& model, const OpRegistry& ops, const TensorSource& tensors, NodeWatcher* watcher = nullptr,
               bool strict = false)
      : model_(model), ops_(ops), tensors_(tensors), functions_(model), watcher_(watcher), strict_(strict) {}

  /// The order in which to add() nodes, as order_of() has it. That it is not the file's is told by warnings(), or with `strict` refused.
  Result<std::vector<int>> order(const NodeProtos& nodes, const std::vector<std::string>& given,
                                 const std::function<bool(const std::string&)>& is_around = {});
  std::vector<std::string> warnings() const;

  /// Adds a node, or what a call stands for; its outputs are in the scope then. An error names the node.
  Status add(Scope& scope, const onnx_proto::NodeProto& proto, int index);
  /// Types that operators do not take do not end the import: the nodes' outputs, and what is computed from them, have no types then.
  const RefusedTypes& refused_types() const { return refused_types_; }

 private:
  /// The nodes of a body or function.
  Status add_all(Scope& scope, const NodeProtos& nodes, const std::vector<std::string>& given,
                 const std::function<bool(const std::string&)>& is_around = {});
  Status add_watched(Scope& scope, const onnx_proto::NodeProto& proto, int index);
  Status add_named(Scope& scope, const onnx_proto::NodeProto& proto, int index);
  Status add_node(Scope& scope, const onnx_proto::NodeProto& proto, int index);
  Status add_call(Scope& scope, const onnx_proto::NodeProto& proto, int index, const onnx_proto::FunctionProto& function);
  /// Bodies become attributes, and what they capture is appended to `inputs`.
  Status add_bodies(Scope& scope, const onnx_proto::NodeProto& proto, const OpDef& op, Attributes& attributes, std::vector<Value*>& inputs);
  Result<Graph> make_body(Scope& scope, const onnx_proto::GraphProto& proto, const std::vector<Type>& own, std::vector<Value*>& captured,
                          Status* deferred);
  Status fill_body(Scope& body, const onnx_proto::GraphProto& proto);
  Result<std::vector<Value*>> inputs_of(Scope& scope, const onnx_proto::NodeProto& proto) const;
  /// Canonical form and types of a node just added, whose outputs are `outputs`.
  Status settle(Scope& scope, const std::string& op, Node* node, const std::vector<Value*>& outputs);
  Status settle_deferred(Scope& scope, Node* node, const std::vector<Value*>& outputs);
  Status settle_now(Scope& scope, Node* node, const std::vector<Value*>& outputs);
  int opset_of(const Scope& scope, std::string_view domain) const;

  const onnx_proto::ModelProto& model_;
  const OpRegistry& ops_;
  const TensorSource& tensors_;
  const Functions functions_;
  NodeWatcher* const watcher_;
  const bool strict_;
  std::string out_of_order_;  // the first node that is
  std::string flattened_;     // of the first node with a vector of more dimensions
  RefusedTypes refused_types_;
  int64_t nested_ = 0;  // nodes of bodies and calls so far
};

}  // namespace svengine::onnx
