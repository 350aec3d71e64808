// The order of a model's nodes: every value has one source, and a node comes after those whose values it uses.
#pragma once
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/status.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

using NodeProtos = google::protobuf::RepeatedPtrField<onnx_proto::NodeProto>;

/// Checks names and order of the nodes' values. `given`: names of inputs and initializers; `is_around`: of values that a body may take
/// from the graphs around it. Refuses, naming the nodes: a value computed twice or given and computed, a value that nothing gives, a
/// cycle, and nodes in another order than ONNX wants.
Status check_order(const NodeProtos& nodes, const std::vector<std::string>& given,
                   const std::function<bool(const std::string&)>& is_around = {});

}  // namespace svengine::onnx
