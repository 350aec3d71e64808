// Elements of any number type as doubles.
#pragma once
#include <cstdint>

#include "engine/base/dtype.h"

namespace svengine {

/// Element i as a number, aligned or not; bool is 0 or 1, 64-bit integers beyond 2^53 are rounded; NaN for types that are no numbers.
double number_at(DType type, const void* data, int64_t i);

}  // namespace svengine
