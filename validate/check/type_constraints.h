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

/// What is wrong with the types of a node's inputs; empty: nothing, or they are not known. `type_of` gives the type of a value, or null.
std::string broken_constraint(const Schemas& schemas, const Schema& schema, const onnx_proto::NodeProto& node,
                              const std::function<const Type*(const std::string&)>& type_of);

}  // namespace svengine::validate
