// Nodes as only old opsets have them, in the operators that there are since.
#pragma once
#include "engine/graph/graph.h"
#include "engine/graph/op_registry.h"

namespace svengine::onnx {

/// Softmax, LogSoftmax and Hardmax of before opset 13, which take all dimensions from their axis on as one ("coerced" to a matrix), become
/// Flatten, the operator over the last axis, and Reshape; where only one of these dimensions is not 1, the node alone. Dropout's mask of the
/// data's type, before opset 12, becomes one of bool where nobody needs it. Upsample's and Resize's nearest element of before opset 11 becomes a
/// mode of today's, where the scales are known. A Loop's condition that is a vector of one element, which others take for the type that the
/// body's has, becomes a scalar. Within bodies of control flow, too.
Status replace_old_forms(Graph& graph, const OpRegistry& registry);

}  // namespace svengine::onnx
