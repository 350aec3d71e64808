// Intel Sapphire Rapids, and any other machine with AVX-512.
#pragma once
#include "engine/kernels/machine/machine.h"

namespace svengine::kernels::machines {

// Sapphire Rapids: 32 registers; 12 x 2 reaches 135 of 136 GFLOP/s, 14 x 2 has the fewest instructions (tile_row.h): on a core that
// is shared 12 % more at 768 x 768 x 768 (bench/gemm_bench), and ResNet's images are multiples of 14 pixels. L1D 48 KiB, L2 2 MiB,
// which supplies a convolution's weights without loss (138 GFLOP/s; passes that fit L1 give 130), and half of a GEMM's panel
// (2048 x 1024 x 1024: 0.93 of peak with blocks of 48 KiB, 0.91 with 24 KiB).
inline constexpr Machine sapphire_rapids{
    .lanes = 16, .vector_registers = 32, .gemm_rows = 14, .gemm_vectors = 2, .gemm_block_bytes = 48 << 10, .conv_pixels = 6,
    .conv_vectors = 4, .pointwise_pixels = 14, .pointwise_vectors = 2, .conv_weight_bytes = 384 << 10, .conv_addresses = 8,
    .broadcast_reach = 1 << 20, .l1_bytes = 48 << 10, .l2_bytes = 2 << 20, .line_bytes = 64, .newton_divide = false,
    .estimate_divide = true, .table_exp = false, .broadcast_operand = true, .deep_window = true};

}  // namespace svengine::kernels::machines
