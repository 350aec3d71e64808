// The kernels of quantised values beside the product.
#pragma once
#include "engine/kernels/quantized.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

int64_t depthwise_packed_bytes(const QuantizedWindow& window) noexcept;
void pack_depthwise(const QuantizedWindow& window, const int32_t* w, void* quads) noexcept;
int64_t depthwise_tasks(const QuantizedDepthwiseArgs& args) noexcept;
int64_t depthwise_scratch_bytes(const QuantizedDepthwiseArgs& args) noexcept;
void depthwise_run(const QuantizedDepthwiseArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;

int64_t quantized_binary_tasks(const QuantizedBinaryArgs& args) noexcept;
void quantized_binary_run(const QuantizedBinaryArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;

int64_t quantize_tasks(const QuantizeArgs& args) noexcept;
void quantize_run(const QuantizeArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;

int64_t dequantize_tasks(const DequantizeArgs& args) noexcept;
void dequantize_run(const DequantizeArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;

int64_t byte_sum_tasks(const ByteSumArgs& args) noexcept;
void byte_sum_run(const ByteSumArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;

int64_t quantized_range_tasks(const QuantizedRangeArgs& args) noexcept;
void quantized_range_run(const QuantizedRangeArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;

/// They work on their elements alone.
template <class Args>
int64_t no_scratch_bytes(const Args&) noexcept {
  return 0;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET

// What multiplies no bytes is the set's own, in a variant too.
namespace svengine::kernels::SVENGINE_BASE_SET {

int64_t byte_table_tasks(const ByteTableArgs& args) noexcept;
void byte_table_run(const ByteTableArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;

int64_t integer_gemm_tasks(const IntegerGemmArgs& args) noexcept;
int64_t integer_gemm_scratch_bytes(const IntegerGemmArgs& args) noexcept;
void integer_gemm_run(const IntegerGemmArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept;

}  // namespace svengine::kernels::SVENGINE_BASE_SET
