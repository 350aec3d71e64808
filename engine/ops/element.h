// Single elements of any type as numbers, for attributes, scalars and tables; kernels do the bulk.
#pragma once
#include <cstdint>

#include "engine/base/narrow_float.h"
#include "engine/base/number_at.h"
#include "engine/base/tensor.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::ops {

/// The one of float32, float64, int32 and int64, with which all kernels compute, that holds all values of another number type (float16,
/// small integers): what such values are converted to before a kernel of four types gets them. uint64 has none; it comes back as it is.
DType computed_type(DType type);

/// A scalar tensor of any type, the value converted as C does (float16 rounded to nearest), and within the limits of integers.
Tensor scalar_of(DType type, double value);

/// The first element of a tensor, in the low bytes.
uint64_t element_bits(const Tensor& tensor);

using svengine::number_at;

}  // namespace svengine::ops
