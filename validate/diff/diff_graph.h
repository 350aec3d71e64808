// One side of a comparison: the nodes and values of a graph, a body or a function, by numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::validate {

/// Where a value comes from. `outer`: from a scope around a body, or from nowhere (a model that is not valid).
enum class Origin : uint8_t { outer, input, weight, node };

/// An input of a node. Values that only the node's bodies use come behind its own inputs.
struct Use {
  int node = -1;
  int slot = -1;
};

struct DiffValue {
  std::string_view name;
  Origin origin = Origin::outer;
  int index = -1;  // which input, weight or node
  int slot = 0;    // which output of the node
  std::vector<Use> uses = {};
  std::vector<int> outputs = {};  // which outputs of the graph
};

struct DiffNode {
  const onnx_proto::NodeProto* proto = nullptr;
  std::vector<int> inputs = {};   // values; -1: absent. Then those that its bodies capture
  std::vector<int> outputs = {};  // values; -1: not wanted
};

/// A weight is an initializer, dense or sparse.
struct DiffWeight {
  std::string_view name;
  const onnx_proto::TensorProto* dense = nullptr;
  const onnx_proto::SparseTensorProto* sparse = nullptr;
};

/// Views of a message, which must outlive it.
class DiffGraph {
 public:
  explicit DiffGraph(const onnx_proto::GraphProto& graph);
  explicit DiffGraph(const onnx_proto::FunctionProto& function);

  std::vector<DiffNode> nodes;
  std::vector<DiffValue> values;
  std::vector<DiffWeight> weights;
  std::vector<int> inputs, outputs;  // values
  std::vector<int> weight_values;    // in the order of `weights`

  /// The value of that name, -1: there is none.
  int find(std::string_view name) const;

 private:
  int value(std::string_view name);
  void add_weight(const DiffWeight& weight);
  void add_nodes(const google::protobuf::RepeatedPtrField<onnx_proto::NodeProto>& protos);
  void add_output(std::string_view name);

  std::unordered_map<std::string_view, int> by_name_;
};

/// The names that the bodies of a node take from around it, each once, in the order of their first use.
std::vector<std::string_view> captured_names(const onnx_proto::NodeProto& node);

/// "Conv", or "com.microsoft:Gelu", with an overload behind another colon.
std::string operator_key(const onnx_proto::NodeProto& node);

}  // namespace svengine::validate
