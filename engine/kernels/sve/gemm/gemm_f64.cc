// Matrix products of doubles.
#include "engine/kernels/sve/gemm/chain.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

extern const GemmKernelsOf<double> gemm_f64_kernels;
constinit const GemmKernelsOf<double> gemm_f64_kernels = gemm_kernels_of<double>();

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
