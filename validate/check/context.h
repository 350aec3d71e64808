// The model as the rules see it: every list of nodes in it (the graph, bodies, functions) with its place, and what is found.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/graph/op_registry.h"
#include "importers/onnx/functions.h"
#include "importers/onnx/onnx_file.h"
#include "importers/onnx/order.h"
#include "validate/check/check.h"
#include "validate/check/findings.h"
#include "validate/check/schemas.h"

namespace svengine::validate {

/// The graph, a body in an attribute, a function of the model, or a graph of its training information.
struct Body {
  const onnx::NodeProtos* nodes = nullptr;
  const onnx_proto::GraphProto* graph = nullptr;        // null: a function
  const onnx_proto::FunctionProto* function = nullptr;  // the function it is, or is in; null: none
  int parent = -1;                                      // index of the body around; -1: none
  int owner = -1;                                       // index of the node there whose attribute this is
  std::string attribute = {};                           // the name of that attribute
  std::vector<int> children = {};                       // indices of the bodies in this one's nodes, in the order of the nodes
};

class Context {
 public:
  Context(const onnx::OnnxFile& file, const CheckOptions& options, const OpRegistry& ops);

  const onnx_proto::ModelProto& model() const { return file.model(); }
  /// "node 'conv1' (Conv)", behind the place of its body.
  std::string where(const Body& body, int node) const;
  /// "function 'd.f': node 'if' (If): then_branch", or "" for the graph; `inner` behind it.
  std::string where(const Body& body, std::string_view inner = {}) const;
  /// The opset in which a node of a body is; 0: its domain is not imported.
  int64_t opset_of(const Body& body, const std::string& domain) const;
  /// What ONNX says of a node: null where it is a call of a function, of an unknown operator or opset.
  const Schema* schema_of(const Body& body, const onnx_proto::NodeProto& node) const;
  /// Opens a finding at a node, which inference then leaves alone if it is an error.
  void add(RuleName rule, const Body& body, int node, std::string message);

  const onnx::OnnxFile& file;
  const CheckOptions& options;
  const OpRegistry& ops;
  const Schemas& schemas = Schemas::get();
  const onnx::Functions functions;
  std::vector<Body> bodies;  // those around come before those in them; the graph first
  Findings found;
  /// Nodes that have an error: no result can follow from them.
  std::unordered_set<const onnx_proto::NodeProto*> refused;

 private:
  void add_bodies(Body first);

  using Imports = std::unordered_map<std::string, int64_t>;                // by domain; the first where there are two
  std::unordered_map<const onnx_proto::FunctionProto*, Imports> imports_;  // of functions, and under null of the model
};

/// Every tensor of the file, with its place. Sparse ones are for visit_sparse alone.
void for_each_tensor(const Context& context, const std::function<void(const std::string& where, const onnx_proto::TensorProto&)>& visit,
                     const std::function<void(const std::string& where, const onnx_proto::SparseTensorProto&)>& visit_sparse);

// The groups of rules, in the order in which they run: later ones leave alone what earlier ones have refused.
void check_model_level(Context& context);
void check_names(Context& context);
void check_values(Context& context);
void check_operators(Context& context);
void check_attributes(Context& context);
void check_bodies(Context& context);
void check_functions(Context& context);
void check_declarations(Context& context);
void check_tensors(Context& context);
void check_sparse_tensors(Context& context);
void check_unused(Context& context);
void check_inference(Context& context);
/// Of check_inference, for what a Resize or Upsample has become.
void check_resize(Context& context, const Body& body, int index, const Node& node);
void check_weights(Context& context);

}  // namespace svengine::validate
