// Fujitsu A64FX.
#pragma once
#include "engine/kernels/machine/machine.h"

namespace svengine::kernels::machines {

// A64FX: 12 x 2 accumulators leave 1 % of the two FMA pipes unused (LLVM's and SimEng's models, GCC 12); a convolution keeps
// to 6 pixels x 4 blocks because more address streams starve it (SimEng: 0.962 of peak against 0.864 for 12 x 2), and its
// weights, 21 bytes a cycle, to the L1 cache: 12 cores together get 42 bytes a cycle each from L2, in bursts.
// In a 1 x 1 convolution four pixels share an address; 13 x 2 then has passes twice as long as 6 x 4, no tile of which is bound by
// decoding, and cuts 7 x 7 pixels well (bench/a64fx_cycles.sh --layers convolutions: 2 % less than 6 x 4, 1 % less than 12 x 2).
// A GEMM's panel leaves the other half of L1 to the rows and sums that pass by.
// L1D 64 KiB, lines of 256 bytes; L2 7 MiB usable by 12 cores; a vector FDIV or FSQRT blocks its pipe for 98 cycles (Fujitsu A64FX
// Microarchitecture Manual 1.8, Programming Guide 1.4).
inline constexpr Machine a64fx{
    .lanes = 16, .vector_registers = 32, .gemm_rows = 12, .gemm_vectors = 2, .gemm_block_bytes = 32 << 10, .conv_pixels = 6,
    .conv_vectors = 4, .pointwise_pixels = 13, .pointwise_vectors = 2, .conv_weight_bytes = 40 << 10, .conv_addresses = 10,
    .broadcast_reach = 64, .l1_bytes = 64 << 10, .l2_bytes = 597 << 10, .line_bytes = 256, .newton_divide = true,
    .estimate_divide = true, .table_exp = true, .broadcast_operand = false, .deep_window = false};

// [MM] Fujitsu, A64FX Microarchitecture Manual 1.8. [PG] Fujitsu and RIKEN, A64FX Programming Guide (Processors) 1.4, measured on the
// chip at 2.0 GHz. [LT] timings published in the repository lighttransport/gemm, A64FX at 2.0 GHz.
inline constexpr Node a64fx_node{
    .groups = 4,
    .group_cores = 12,
    .flops_per_cycle = 64,             // two 512-bit FMA pipes [MM]
    .l2_group_bytes = 7 << 20,         // of 8 MiB; the assistant cores' groups can use 14 of 16 ways [PG]
    .l2_core_bytes_per_cycle = 64,     // one core alone [MM]
    .l2_group_bytes_per_cycle = 349,   // triad in L2, 12 cores: 699 GB/s [PG]; 512 are promised [MM]
    .memory_bytes_per_second = 206e9,  // triad, 12 cores, bytes on the bus [PG]; 256e9 are promised
    .link_bytes_per_second = 128e9,    // [PG]
    .load_bytes_per_cycle = 128,       // two loads or one store [MM]
    .store_bytes_per_cycle = 64,
    .barrier_seconds_in_group = 120e-9,  // 12 threads [LT]
    .barrier_seconds_across = 1.76e-6};  // 48 threads, software barrier [LT]

}  // namespace svengine::kernels::machines
