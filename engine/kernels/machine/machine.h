// The numbers of a machine: those that kernels are shaped by, and those of a whole node.
//
// Each machine has a file of its own here, where the numbers have their sources. A kernel set, an instruction set and a vector length, is
// compiled for the tiles of one machine: cmake/SvengineKernels.cmake has the list.
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
  bool estimate_divide;  // quotients of normal numbers from an estimate likewise
  bool table_exp;        // FEXPA looks up 2^(i/64) in one instruction
  bool broadcast_operand;  // multiply-adds can broadcast an operand from memory
  bool deep_window;      // hundreds of instructions in flight: chains of dependent instructions overlap by themselves
};

/// What a node can do at best; for estimates (tools/predict), kernels do not read it.
struct Node {
  int groups, group_cores;                             // core memory groups (CMGs), and cores of one
  double flops_per_cycle;                              // of a core, fp32, a multiply-add counted as two
  double l2_group_bytes;                               // of L2 that a group's cores can use
  double l2_core_bytes_per_cycle;                      // from L2 to one core's L1 when all cores of the group read
  double l2_group_bytes_per_cycle;                     // the same for a group together
  double memory_bytes_per_second;                      // of a group's memory; does not change with the cores' frequency
  double link_bytes_per_second;                        // into a group from the other groups' memory
  double load_bytes_per_cycle, store_bytes_per_cycle;  // of a core and its L1; not in the same cycle
  double barrier_seconds_in_group, barrier_seconds_across;
};

}  // namespace svengine::kernels
