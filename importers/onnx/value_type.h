// Types of values as an ONNX file declares them.
#pragma once
#include "engine/graph/graph.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

/// A declared type. Missing type: undefined element type; missing shape: unknown rank. Refuses sparse tensors, element types the
/// engine has not, and impossible dimensions.
Result<Type> read_type(const onnx_proto::TypeProto& type);
Result<Type> declared_type(const onnx_proto::ValueInfoProto& info);

/// Whether two descriptions of one value can both be true, where they are known: the same element type and rank, the same
/// numbers. The error says what differs.
Status check_agrees(const Type& declared, const Type& actual);

/// Takes over from `declared` what `type` leaves open. Does nothing when the two contradict each other.
void refine(Type& type, const Type& declared);

}  // namespace svengine::onnx
