// Inputs that the specification wants as vectors or single numbers, and that ONNX Runtime reads whatever their rank.
#pragma once
#include "engine/graph/op_def.h"

namespace svengine::ops {

/// Such inputs of more dimensions become vectors of the same elements: Paddle2ONNX gives Compress a condition of its input's shape, and
/// ONNX Runtime takes it. Only of the operators where it does; others refuse them in their `infer`. For a node in canonical form whose inputs'
/// types are set. Gives what has been changed, empty where nothing has: "input 1 has shape 2x3 and is read as a vector".
Result<std::string> flatten_vector_inputs(CanonicalizeContext& c);

}  // namespace svengine::ops
