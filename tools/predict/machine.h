// A machine as `svengine predict` sees it: what it can do at best, and what our kernels make of its cores.
//
// Sources. [MM] Fujitsu, A64FX Microarchitecture Manual 1.8. [PG] Fujitsu and RIKEN, A64FX Programming Guide
// (Processors) 1.4, measured on the chip at 2.0 GHz. [LT] timings published in the repository lighttransport/gemm,
// A64FX at 2.0 GHz. [est] our own: cycles of one core as bench/a64fx_cycles.sh estimates them (LLVM's model of the core
// on counted blocks, caches perfect).
#pragma once
#include <cstdint>
#include <string_view>

#include "engine/kernels/machine/machine.h"

namespace svengine::tool {

struct MachineModel {
  std::string_view name;

  // The chip.
  int groups, group_cores;                             // core memory groups (CMGs), and cores of one
  double flops_per_cycle;                              // of a core, fp32, a multiply-add counted as two
  double l2_group_bytes;                               // of L2 that a group's cores can use
  double l2_core_bytes_per_cycle;                      // from L2 to one core's L1 when all cores of the group read
  double l2_group_bytes_per_cycle;                     // the same for a group together
  double memory_bytes_per_second;                      // of a group's memory; does not change with the cores' frequency
  double link_bytes_per_second;                        // into a group from the other groups' memory
  double load_bytes_per_cycle, store_bytes_per_cycle;  // of a core and its L1; not in the same cycle
  double barrier_seconds_in_group, barrier_seconds_across;

  // Our kernels on one of its cores: the share of the multiply-add peak that they reach on operands in L1.
  struct {
    double convolution, strided, pointwise, first_layer, depthwise, grouped, product, attention;
  } share;
  // Of a Winograd convolution: the cycles that the kernels' own plan counts (kernels/machine/winograd.h) over the
  // estimated ones.
  double winograd;
  // Cycles of an element.
  struct {
    double exp, log, tanh, sigmoid, erf, gelu, softmax, norm;
  } cycles;
  kernels::Machine tiles;    // pieces that our kernels cut products and convolutions into
  int64_t elementwise_task;  // and other work
};

/// Null: there is none.
const MachineModel* find_machine(std::string_view name);

}  // namespace svengine::tool
