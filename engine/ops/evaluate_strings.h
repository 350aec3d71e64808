// Strings in operators that only move, compare for equality or order their elements.
#pragma once
#include "engine/graph/evaluate_context.h"

namespace svengine::ops {

/// OpDef::evaluate of any operator with `lower` (or a view) that does not compute with its elements: every string becomes its
/// rank among all that the node reads ("" has rank 0), the node is run on these int64 numbers, and results of type string become
/// strings again. Equal ranks are equal strings and their order is that of bytes, so Unique and Equal are right, too, and what
/// fills with zero fills with "". Shapes that follow from values (Compress) are found, since all inputs are known.
Status evaluate_strings(EvaluateContext& c);

}  // namespace svengine::ops
