// Looks over a parsed model before any weight is read: versions, and everything in it that is not supported, told together.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/graph/op_registry.h"
#include "importers/onnx/model.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

/// The newest IR version whose fields are known. Newer ones are read all the same: what they add is optional.
inline constexpr int64_t kNewestIr = 14;
/// Before this IR version a model imports no opset: it means opset 1.
inline constexpr int64_t kOldestIrWithOpsets = 3;

/// IR version, opset imports (one version a domain), a graph.
Status check_versions(const onnx_proto::ModelProto& model);

/// What is newer in the model than the engine knows; such a model is tried all the same.
std::vector<std::string> version_warnings(const onnx_proto::ModelProto& model, const OpRegistry& ops);

/// The opset version the model imports for a domain; 0 when it does not. For models that check_versions() has accepted.
int opset_of(const onnx_proto::ModelProto& model, std::string_view domain);

/// Likewise where `function` (null: none of the model's) may import another one than the model.
int imported_opset(const onnx_proto::ModelProto& model, const onnx_proto::FunctionProto* function, std::string_view domain);

/// That whose forms nodes there have: of a domain that is not imported the newest known, as ONNX Runtime takes it.
int taken_opset(const onnx_proto::ModelProto& model, const onnx_proto::FunctionProto* function, std::string_view domain, const OpRegistry& ops);

/// One error that names every operator the engine has not (unknown, of an unknown domain, of an opset its definition does
/// not cover, a function of the model, with subgraphs, sparse tensors or types as attributes) and the nodes that use it.
/// Gives warnings: of domains that are used, but not imported, which are errors if `strict`.
Result<std::vector<std::string>> check_supported(const onnx_proto::ModelProto& model, const OpRegistry& ops, bool strict);

/// Every operator of the model by domain and name, with what is wrong with it.
std::vector<OperatorUse> operators_of(const onnx_proto::ModelProto& model, const OpRegistry& ops);

/// The name of a node as messages show it: its own, or made up from operator and position.
std::string node_name(const onnx_proto::NodeProto& node, int index);

}  // namespace svengine::onnx
