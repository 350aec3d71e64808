// What operators on sequences and optionals share. Values are shared, never copied: a sequence is a list of tensors' handles.
#pragma once
#include "engine/graph/evaluate_context.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {

/// A sequence or optional of what is known of its elements.
Type handle_type(DType kind, Type element);

/// Input i is a sequence.
Status require_sequence(const InferContext& c, size_t i);

/// What is known of the elements of a sequence or optional; of unknown type where nothing is.
Type element_type(const Type& type);

/// What is true of two elements: the shape where they have one, else what both have in common. Types that are known to differ are
/// an error.
Result<Type> common_element(const Type& a, const Type& b);

/// The items of the sequence that is input i, which inference has seen.
const std::vector<Tensor>& sequence_items(const EvaluateContext& c, size_t i);

/// The position that scalar input i names, negative ones from the end; in [0, limit), `count` being the length that negative ones
/// count from.
Result<size_t> sequence_position(const EvaluateContext& c, size_t i, int64_t count, int64_t limit);

/// Refuses an item of another type than those before: a sequence holds one type.
Status check_item(const std::vector<Tensor>& items, const Tensor& item);

}  // namespace svengine::ops
