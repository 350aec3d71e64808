// Arm Neoverse V2 (Grace), and any other SVE machine with 128-bit vectors.
#pragma once
#include "engine/kernels/machine/machine.h"

namespace svengine::kernels::machines {

// The registers of A64FX, so its tiles; caches of 64 KiB and 1 MiB.
inline constexpr Machine neoverse_v2{
    .lanes = 4, .vector_registers = 32, .gemm_rows = 12, .gemm_vectors = 2, .gemm_block_bytes = 32 << 10, .conv_pixels = 6,
    .conv_vectors = 4, .pointwise_pixels = 12, .pointwise_vectors = 2, .conv_weight_bytes = 40 << 10, .conv_addresses = 10,
    .broadcast_reach = 64, .l1_bytes = 64 << 10, .l2_bytes = 1 << 20, .line_bytes = 64, .newton_divide = true,
    .estimate_divide = true, .table_exp = true, .broadcast_operand = false, .deep_window = true};

}  // namespace svengine::kernels::machines
