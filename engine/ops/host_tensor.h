// Tensors of any element type cut and joined on the host: what sequences are made of.
#pragma once
#include <span>

#include "engine/base/tensor.h"

namespace svengine::ops {

/// Positions [begin, begin + count) of dimension `axis`, which has so many. Shares the storage where they lie in a row.
Result<Tensor> sliced(const Tensor& t, size_t axis, int64_t begin, int64_t count);

/// One after the other along `axis`. All have one type and, but for `axis`, one shape; there is one at least.
Result<Tensor> joined(std::span<const Tensor> parts, size_t axis);

/// Refuses so many strings that no memory holds them, or the limit that is set (engine/base/limits.h) would be passed: they are objects on
/// the heap, of which a few numbers in a file ask for any number. Before they are made.
Status check_room_for_strings(std::span<const int64_t> dims);

}  // namespace svengine::ops
