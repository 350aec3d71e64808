// A machine as `svengine predict` sees it: what it can do at best, and what our kernels make of its cores.
//
// The node's numbers, with their sources, are in kernels/machine. [est] our own: cycles of one core as bench/a64fx_cycles.sh estimates
// them (LLVM's model of the core on counted blocks, caches perfect).
#pragma once
#include <cstdint>
#include <string_view>

#include "engine/kernels/machine/machine.h"

namespace svengine::tool {

struct MachineModel {
  std::string_view name;

  kernels::Node node;

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
