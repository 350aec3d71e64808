// The order of a model's nodes: every value has one source, and a node comes after those whose values it uses.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/status.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

/// Checks names and order of the nodes' values. `given`: names of inputs and initializers. Refuses, naming the nodes: a value
/// computed twice or given and computed, a value that nothing gives, a cycle, and nodes in another order than ONNX wants.
Status check_order(const onnx_proto::GraphProto& graph, const std::vector<std::string>& given);

}  // namespace svengine::onnx
