// What trips of a loop read and give, one slice a trip.
#pragma once
#include "engine/base/tensor.h"
#include "engine/graph/graph.h"

namespace svengine::ops {

/// Slice `index` along `axis`, which disappears; the tensor's own storage where the slice lies in a row.
Result<Tensor> slice_of(const Tensor& tensor, size_t axis, int64_t index);

/// Tensors of one type and shape, side by side along a new `axis`; last first when `reversed`. Of no tensors: what `type` says, unknown
/// dimensions being 0.
Result<Tensor> stacked(const std::vector<Tensor>& parts, size_t axis, bool reversed, DType type, const Shape& shape);

/// What a trip is given: its type, and its value where that is known.
struct TripInput {
  Type type;
  Tensor value = {};
};

/// A slice along `axis`, of whatever value.
TripInput any_slice_of(const Tensor& tensor, size_t axis);
/// Adds values.
void append(std::vector<TripInput>& inputs, const std::vector<Tensor>& values);

/// The types of a body's outputs for such inputs, where no trip has told. Inputs that are lists count as the body has them.
std::vector<Type> types_without_trip(const Graph& body, const std::vector<TripInput>& inputs);

}  // namespace svengine::ops
