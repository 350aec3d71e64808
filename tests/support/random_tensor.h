// Reproducible tensors for tests.
#pragma once
#include "engine/base/tensor.h"

namespace svengine::tests {

/// float32 values in [low, high): the same for the same seed on every machine.
Tensor random_tensor(Dims dims, uint64_t seed, double low = -1, double high = 1);

/// Any type: integers are the whole part of such values, bool is whether they are positive.
MutableTensor random_tensor_of(DType type, Dims dims, uint64_t seed, double low, double high);

}  // namespace svengine::tests
