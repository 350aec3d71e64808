// Packing of operands into the panels described in gemm.h.
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

int64_t packed_a_bytes(int64_t m, int64_t k) noexcept;
int64_t packed_b_bytes(int64_t k, int64_t n) noexcept;
int64_t pack_a_tasks(const GemmPackArgs& args) noexcept;
void pack_a(const GemmPackArgs& args, int64_t task_begin, int64_t task_end) noexcept;
int64_t pack_b_tasks(const GemmPackArgs& args) noexcept;
void pack_b(const GemmPackArgs& args, int64_t task_begin, int64_t task_end) noexcept;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
