// Activations of a tile of results that is in L1, those that need more registers than the tile's sums leave. Files of their own have them:
// what suits the compiler's scheduling of these long chains does not suit that of tiles (engine/CMakeLists.txt).
#pragma once
#include <cstdint>

#include "engine/kernels/activation.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// `columns` of each of `rows` rows of c become their activation.
void activate_block(const ActivationArgs& args, float* c, int64_t ldc, int64_t rows, int64_t columns) noexcept;
void activate_block(const ActivationArgs& args, double* c, int64_t ldc, int64_t rows, int64_t columns) noexcept;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
