// Intel Haswell, and any other machine with AVX2 alone.
#pragma once
#include "engine/kernels/machine/machine.h"

namespace svengine::kernels::machines {

// AVX2 has 16 registers: 6 x 2 accumulators, two panels, one broadcast.
inline constexpr Machine haswell{
    .lanes = 8, .vector_registers = 16, .gemm_rows = 6, .gemm_vectors = 2, .gemm_block_bytes = 16 << 10, .conv_pixels = 6,
    .conv_vectors = 2, .pointwise_pixels = 6, .pointwise_vectors = 2, .conv_weight_bytes = 64 << 10, .conv_addresses = 8,
    .broadcast_reach = 1 << 20, .l1_bytes = 32 << 10, .l2_bytes = 256 << 10, .line_bytes = 64, .newton_divide = false,
    .estimate_divide = false, .table_exp = false, .broadcast_operand = false, .deep_window = true};

}  // namespace svengine::kernels::machines
