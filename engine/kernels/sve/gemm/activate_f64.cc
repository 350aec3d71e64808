// Activations of tiles of doubles.
#include "engine/kernels/sve/gemm/activate_block.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

void activate_block(const ActivationArgs& args, double* c, int64_t ldc, int64_t rows, int64_t columns) noexcept {
  activate_block_of(args, c, ldc, rows, columns);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
