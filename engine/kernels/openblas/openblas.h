// Kernel sets whose matrix products are OpenBLAS's, to compare with and to choose: `--gemm openblas`.
//
// OpenBLAS takes the place of family `gemm` (gemm.h): MatMul, Gemm, Einsum, dense layers, the products of recurrent networks and of
// convolutions that are products, in float and double. Everything else, convolution and attention with their own tiles among it, and what a
// product ends in (bias, residual, activation), stays as it is in the set below. Work is cut by shape into tiles of C, each a call of
// its own by one thread, so results are bitwise the same for any number of threads.
#pragma once
#include <string>

#include "engine/base/status.h"
#include "engine/kernels/kernel_table.h"

namespace svengine::kernels {

/// `base` with OpenBLAS's products, named "avx2+openblas". An error where there is no OpenBLAS, or none that can be used, with what to do about
/// it. The table lives as long as the program. As BLAS has it, a product with alpha = 0 is 0, whatever stands in A and B. Thread-safe.
Result<const KernelTable*> with_openblas(const KernelTable& base);

/// "OpenBLAS 0.3.21 ..., kernels Haswell": the one that with_openblas() takes.
Result<std::string> openblas_description();

}  // namespace svengine::kernels
