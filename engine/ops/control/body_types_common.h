// What a body's own inputs are, from its node's: for import, before there is a node.
#pragma once
#include "engine/graph/op_def.h"

namespace svengine::ops {

/// Types of the body's own inputs, those that the operator gives it. What a trip may change (the shapes of carried values) is unknown.
/// `inputs`: of the node, without captured ones; `count`: inputs that the body declares; `opset`: the file's.
std::vector<Type> body_input_types(const OpDef& op, const std::vector<Type>& inputs, const Attributes& attributes, size_t count, int opset);

}  // namespace svengine::ops
