// Single elements of any type as numbers, for attributes, scalars and tables; kernels do the bulk.
#pragma once
#include <cstdint>

#include "engine/base/tensor.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::ops {

/// The one of float32, float64, int32 and int64, with which all kernels compute, that holds all values of another number type (float16, small integers): what such values are
/// converted to before a kernel of four types gets them. uint64 has none; it comes back as it is.
DType computed_type(DType type);

/// Element i as a number; bool is 0 or 1. int64 beyond 2^53 is rounded.
double number_at(DType type, const void* data, int64_t i);

/// A scalar tensor of any type, the value converted as C does (float16 rounded to nearest).
Tensor scalar_of(DType type, double value);

/// The first element of a tensor, in the low bytes.
uint64_t element_bits(const Tensor& tensor);

float half_to_float(uint16_t half);
uint16_t float_to_half(float value);  // nearest, ties to even; too large gives infinity

}  // namespace svengine::ops
