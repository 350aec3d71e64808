// The element types that an operator's inputs may have, by its schema.
#pragma once
#include <functional>
#include <string>

#include "engine/graph/graph.h"
#include "onnx_proto/svengine_onnx.pb.h"
#include "validate/check/schemas.h"

namespace svengine::validate {

/// "float32", "seq(int64)", "opt(seq(bool))", "map(int64,float32)", as onnx_schemas.txt has them; empty: not known.
std::string schema_type(const Type& type);

/// The type of a value as schema_type() writes it; empty: not known.
using TypeOf = std::function<std::string(const std::string& value)>;

/// What is wrong with the types of a node's inputs; empty: nothing, or they are not known.
std::string broken_constraint(const Schemas& schemas, const Schema& schema, const onnx_proto::NodeProto& node, const TypeOf& type_of);
/// The same of its outputs, each by itself.
std::string broken_output(const Schemas& schemas, const Schema& schema, const onnx_proto::NodeProto& node, const TypeOf& type_of);

}  // namespace svengine::validate
