// Packing of B into panels.
#pragma once
#include "engine/kernels/quantized.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

int64_t quantized_packed_bytes(int64_t k, int64_t n) noexcept;
int64_t quantized_pack_tasks(const QuantizedPackArgs& args) noexcept;
void quantized_pack(const QuantizedPackArgs& args, int64_t task_begin, int64_t task_end) noexcept;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
