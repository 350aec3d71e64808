// Attributes of a node, from the file's form to the graph's.
#pragma once
#include "engine/graph/attribute.h"
#include "importers/onnx/functions.h"
#include "importers/onnx/tensor_source.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

/// Refuses attributes without a name, given twice, of no or another type than their content, with several contents, and
/// references to a function's attributes outside of one. Within a call these are what the call gives. Bodies are left out. Kinds that
/// the graph has not (lists of tensors, ...) were refused by check_supported().
Result<Attributes> read_attributes(const onnx_proto::NodeProto& node, const TensorSource& tensors, const Call* call);

}  // namespace svengine::onnx
