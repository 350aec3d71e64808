// Matrix products of floats.
#include "engine/kernels/sve/gemm/chain.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

extern const GemmKernelsOf<float> gemm_kernels;
constinit const GemmKernelsOf<float> gemm_kernels = gemm_kernels_of<float>();

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
