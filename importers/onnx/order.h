// The order of a model's nodes: every value has one source, and a node comes after those whose values it uses.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

using NodeProtos = google::protobuf::RepeatedPtrField<onnx_proto::NodeProto>;

struct NodeOrder {
  std::vector<int> nodes;    // indices, each behind those whose values it uses; the file's order where that is such a one
  std::string out_of_order;  // the first node that the file has before one whose value it uses; empty: none
};

/// ONNX wants nodes in the order of computation, but not all that write models see to it: casts are appended last, and what bodies use
/// of the graph around them is forgotten. `given`: names of inputs and initializers; `is_around`: of values that a body may take from
/// the graphs around it. Refuses, naming the nodes: a value computed twice or given and computed, a value that nothing gives, a cycle.
Result<NodeOrder> order_of(const NodeProtos& nodes, const std::vector<std::string>& given,
                           const std::function<bool(const std::string&)>& is_around = {});

}  // namespace svengine::onnx
