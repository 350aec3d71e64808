// One row: the kernel families of the reference set.
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {

extern const GemmKernelsOf<float> gemm_kernels;
extern const GemmKernelsOf<double> gemm_f64_kernels;
extern const ConvKernels conv_kernels;
extern const PoolKernels pool_kernels;
extern const ElementwiseKernels elementwise_kernels;
extern const SoftmaxKernels softmax_kernels;
extern const AttentionKernels attention_kernels;
extern const NormKernels norm_kernels;
extern const ReduceKernels reduce_kernels;
extern const DataKernels data_kernels;
extern const GradientKernels gradient_kernels;
extern const QuantizedKernels quantized_kernels;
extern const RecurrentKernelsOf<float> recurrent_kernels;
extern const RecurrentKernelsOf<double> recurrent_f64_kernels;

extern const KernelTable table;
constinit const KernelTable table{
    "reference",          kLanes,           &gemm_kernels,      &gemm_f64_kernels, &conv_kernels,      &pool_kernels,
    &elementwise_kernels, &softmax_kernels, &attention_kernels, &norm_kernels,     &reduce_kernels,    &data_kernels,
    &gradient_kernels,    &quantized_kernels, &recurrent_kernels, &recurrent_f64_kernels};

}  // namespace svengine::kernels::reference
