// Operators that take "the shape of that value": an input of which only the shape is read (OpTraits::shape_only_input), or, once
// that shape is known, attribute "shape" in its place.
#pragma once
#include "engine/graph/op_def.h"

namespace svengine::ops {

/// Attribute "shape", for an OpDef's list.
AttributeDef shape_attribute();

/// The shape that the node is to give, from the attribute or else from `input`. Fails when both are missing.
Result<Shape> like_shape(const InferContext& c, size_t input);

/// Refuses an input that is there and whose shape is known to be another one.
Status require_shape(const InferContext& c, size_t input, const Shape& wanted);

/// Of a gradient: input 0, dy, is of a floating-point type, and output 0 is of that type and shape.
Status infer_gradient_like(InferContext& c, size_t input);

/// OpTraits::is_identity of a node whose output has the input's type and shape only where it changes nothing.
bool keeps_type(const Node& node);

}  // namespace svengine::ops
