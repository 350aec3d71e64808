// Softmax, LogSoftmax and Hardmax as they were before opset 13, in the operators that there are since.
#pragma once
#include "engine/graph/graph.h"
#include "engine/graph/op_def.h"

namespace svengine::validate {

/// Nodes that take all dimensions from their axis on as one ("coerced" to a matrix) become Flatten, the operator over the last axis, and
/// Reshape; where only one dimension is there that is not 1, the node alone.
Status replace_coerced(Graph& graph, const OpRegistry& ops);

}  // namespace svengine::validate
