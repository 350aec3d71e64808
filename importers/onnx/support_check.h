// Looks over a parsed model before any weight is read: versions, and everything in it that is not supported, told together.
#pragma once
#include <string>

#include "engine/base/status.h"
#include "engine/graph/op_def.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

inline constexpr int64_t kOldestIr = 3, kNewestIr = 10;
inline constexpr int64_t kOldestOpset = 7, kNewestOpset = 21;

/// "ai.onnx" is "".
std::string canonical_domain(const std::string& domain);

/// IR version, opset imports (each domain once, ai.onnx's in range when it is there), a graph, no training_info.
Status check_versions(const onnx_proto::ModelProto& model);

/// The opset version the model imports for a domain; 0 when it does not. For models that check_versions() has accepted.
int opset_of(const onnx_proto::ModelProto& model, const std::string& domain);

/// One error that names every operator the engine has not (unknown, of an unknown domain, of an opset its definition does
/// not cover, a function of the model, with subgraphs, sparse tensors or types as attributes) and the nodes that use it.
Status check_supported(const onnx_proto::ModelProto& model, const OpRegistry& ops);

/// The name of a node as messages show it: its own, or made up from operator and position.
std::string node_name(const onnx_proto::NodeProto& node, int index);

}  // namespace svengine::onnx
