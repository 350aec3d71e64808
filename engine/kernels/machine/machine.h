// The numbers that kernels are shaped by, one row per kernel set, each with its source.
#pragma once
#include <cstdint>

namespace svengine::kernels {

struct Machine {
  int lanes;             // float lanes of a vector
  int vector_registers;  // architectural
  int gemm_rows;         // rows of a GEMM tile (broadcast operand)
  int gemm_vectors;      // vectors of a GEMM tile (packed operand)
  int64_t gemm_block_bytes;   // of a panel of the packed operand that a GEMM goes over for every tile
  int conv_pixels;       // pixels of a convolution tile
  int conv_vectors;      // output channel blocks of a convolution tile
  int pointwise_pixels;  // of a 1 x 1 convolution's tile, whose pixels share addresses
  int pointwise_vectors;
  int64_t conv_weight_bytes;  // weights that a convolution's pass goes over for every tile
  int conv_addresses;    // most pixels of a convolution tile: each needs an integer register (x86 16, aarch64 31)
  int broadcast_reach;   // floats that broadcasts reach from one address: LD1RW has offsets of 0 to 252 bytes
  int64_t l1_bytes;      // per core
  int64_t l2_bytes;      // a core's share
  int64_t line_bytes;    // of a cache line
  bool newton_divide;    // division and roots by estimate and Newton steps: faster than the processor's own
  bool table_exp;        // FEXPA looks up 2^(i/64) in one instruction
  bool broadcast_operand;  // multiply-adds can broadcast an operand from memory
  bool deep_window;      // hundreds of instructions in flight: chains of dependent instructions overlap by themselves
};

// A64FX: 12 x 2 accumulators leave 1 % of the two FMA pipes unused (LLVM's and SimEng's models, GCC 12); a convolution keeps
// to 6 pixels x 4 blocks because more address streams starve it (SimEng: 0.962 of peak against 0.864 for 12 x 2), and its
// weights, 21 bytes a cycle, to the L1 cache: 12 cores together get 42 bytes a cycle each from L2, in bursts.
// In a 1 x 1 convolution four pixels share an address; 13 x 2 then has passes twice as long as 6 x 4, no tile of which is bound by
// decoding, and cuts 7 x 7 pixels well (bench/a64fx_cycles.sh --layers convolutions: 2 % less than 6 x 4, 1 % less than 12 x 2).
// A GEMM's panel leaves the other half of L1 to the rows and sums that pass by.
// L1D 64 KiB, lines of 256 bytes; L2 7 MiB usable by 12 cores; a vector FDIV or FSQRT blocks its pipe for 98 cycles (Fujitsu A64FX
// Microarchitecture Manual 1.8, Programming Guide 1.4).
inline constexpr Machine kMachine_sve512{
    .lanes = 16, .vector_registers = 32, .gemm_rows = 12, .gemm_vectors = 2, .gemm_block_bytes = 32 << 10, .conv_pixels = 6,
    .conv_vectors = 4, .pointwise_pixels = 13, .pointwise_vectors = 2, .conv_weight_bytes = 40 << 10, .conv_addresses = 10,
    .broadcast_reach = 64, .l1_bytes = 64 << 10, .l2_bytes = 597 << 10, .line_bytes = 256, .newton_divide = true,
    .table_exp = true, .broadcast_operand = false, .deep_window = false};
// Any other SVE machine with 256- or 128-bit vectors (Neoverse V1; V2, N2): the same 32 registers.
inline constexpr Machine kMachine_sve256{
    .lanes = 8, .vector_registers = 32, .gemm_rows = 12, .gemm_vectors = 2, .gemm_block_bytes = 32 << 10, .conv_pixels = 6,
    .conv_vectors = 4, .pointwise_pixels = 12, .pointwise_vectors = 2, .conv_weight_bytes = 40 << 10, .conv_addresses = 10,
    .broadcast_reach = 64, .l1_bytes = 64 << 10, .l2_bytes = 1 << 20, .line_bytes = 64, .newton_divide = true,
    .table_exp = true, .broadcast_operand = false, .deep_window = true};
inline constexpr Machine kMachine_sve128{
    .lanes = 4, .vector_registers = 32, .gemm_rows = 12, .gemm_vectors = 2, .gemm_block_bytes = 32 << 10, .conv_pixels = 6,
    .conv_vectors = 4, .pointwise_pixels = 12, .pointwise_vectors = 2, .conv_weight_bytes = 40 << 10, .conv_addresses = 10,
    .broadcast_reach = 64, .l1_bytes = 64 << 10, .l2_bytes = 1 << 20, .line_bytes = 64, .newton_divide = true,
    .table_exp = true, .broadcast_operand = false, .deep_window = true};
// Sapphire Rapids: 32 registers; 12 x 2 reaches 135 of 136 GFLOP/s, 14 x 2 has the fewest instructions (tile_row.h): on a core that
// is shared 12 % more at 768 x 768 x 768 (bench/gemm_bench), and ResNet's images are multiples of 14 pixels. L1D 48 KiB, L2 2 MiB,
// which supplies a convolution's weights without loss (138 GFLOP/s; passes that fit L1 give 130), and half of a GEMM's panel
// (2048 x 1024 x 1024: 0.93 of peak with blocks of 48 KiB, 0.91 with 24 KiB).
inline constexpr Machine kMachine_avx512{
    .lanes = 16, .vector_registers = 32, .gemm_rows = 14, .gemm_vectors = 2, .gemm_block_bytes = 48 << 10, .conv_pixels = 6,
    .conv_vectors = 4, .pointwise_pixels = 14, .pointwise_vectors = 2, .conv_weight_bytes = 384 << 10, .conv_addresses = 8,
    .broadcast_reach = 1 << 20, .l1_bytes = 48 << 10, .l2_bytes = 2 << 20, .line_bytes = 64, .newton_divide = false,
    .table_exp = false, .broadcast_operand = true, .deep_window = true};
// AVX2 has 16 registers: 6 x 2 accumulators, two panels, one broadcast.
inline constexpr Machine kMachine_avx2{
    .lanes = 8, .vector_registers = 16, .gemm_rows = 6, .gemm_vectors = 2, .gemm_block_bytes = 16 << 10, .conv_pixels = 6,
    .conv_vectors = 2, .pointwise_pixels = 6, .pointwise_vectors = 2, .conv_weight_bytes = 64 << 10, .conv_addresses = 8,
    .broadcast_reach = 1 << 20, .l1_bytes = 32 << 10, .l2_bytes = 256 << 10, .line_bytes = 64, .newton_divide = false,
    .table_exp = false, .broadcast_operand = false, .deep_window = true};

}  // namespace svengine::kernels
