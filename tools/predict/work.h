// What a node asks of a core, in the terms of the model in predict.h.
#pragma once
#include "engine/graph/graph.h"
#include "tools/predict/machine.h"

namespace svengine::tool {

struct Work {
  double flops = 0;               // as the node is written
  double share = 1;               // of the peak that its kernel reaches on them
  double function_cycles = 0;     // of exponentials and the like, besides the flops
  double loaded = 0, stored = 0;  // bytes between L1 and registers, where the kernel streams
  double weights = 0;             // constant bytes that it reads
  double activations = 0;         // other bytes that it reads or writes
  double packed = 0;              // bytes of input 1 in the kernel's form, where that is larger; 0: its own
  double workspace = 0;           // bytes that one step writes and the next reads
  double moved = 0;               // bytes between L2 and L1, all cores together; 0: as operands and cut suggest
  double pieces = 1;              // tiles or tasks that can be done at the same time
  int steps = 0;                  // barriers; 0: nothing happens at run time
  bool winograd = false;          // a convolution by Winograd's algorithm
};

/// Bytes that the node reads of input i: a Gather or a Slice not more than it gives.
double bytes_read(const Node& node, size_t i);

/// `exact`: as with --exact-convolution.
Work work_of(const Node& node, const MachineModel& machine, bool exact);

}  // namespace svengine::tool
