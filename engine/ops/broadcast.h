// NumPy's broadcasting: shapes are aligned at their last dimension, and a dimension of 1 (or none) repeats.
#pragma once
#include <vector>

#include "engine/graph/op_def.h"

namespace svengine::ops {

/// The common shape; of unknown rank when one of them is. Fails on dimensions that are known to differ and are not 1.
Result<Shape> broadcast(const Shape& a, const Shape& b);

/// The common shape of all present inputs of a node from `first` on.
Result<Shape> broadcast_inputs(const InferContext& c, size_t first = 0);

/// Refuses what is known not to repeat to `target`, which keeps its shape: aligned at the end, every dimension of `from` is that of
/// `target` or 1. `what` and `of` are their names.
Status require_broadcast_to(const Shape& from, const std::string& what, const Shape& target, const char* of);
Status require_broadcast_to(const InferContext& c, size_t input, const Shape& target, const char* of);

/// Row-major element strides with which a tensor of shape `dims` is read as one of shape `out`: 0 where it repeats.
/// `dims` broadcasts to `out`.
std::vector<int64_t> broadcast_strides(const Dims& dims, const Dims& out);

/// Dimensions that two operands are walked through, by strides: those of one element say nothing and go, and neighbours that both operands
/// walk evenly become one. None is left of a single element.
void merge_walks(Dims& dims, std::vector<int64_t>& a, std::vector<int64_t>& b);

}  // namespace svengine::ops
