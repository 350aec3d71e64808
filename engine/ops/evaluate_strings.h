// Strings in operators that only move, compare for equality or order their elements.
#pragma once
#include "engine/graph/evaluate_context.h"

namespace svengine::ops {

/// OpDef::evaluate of any operator with `lower` (or a view) that does not compute with its elements: the node is run on int64 numbers in
/// place of strings, and results of type string become strings again. Where the operator only moves elements (OpTraits::moves_elements), a
/// string's number is its place; else its rank among all that the node reads, so that equal ranks are equal strings and their order is that
/// of bytes: Unique and Equal are right, too. Number 0 is "", so what fills with zero fills with "". Shapes that follow from values
/// (Expand) are found, since all inputs are known. Views and operators that read shapes alone look at no string.
Status evaluate_strings(EvaluateContext& c);

}  // namespace svengine::ops
