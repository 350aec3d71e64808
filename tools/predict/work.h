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
  double pieces = 1;              // tiles or tasks that can be done at the same time
  int steps = 0;                  // barriers; 0: nothing happens at run time
};

/// Bytes that the node reads of input i: a Gather or a Slice not more than it gives.
double bytes_read(const Node& node, size_t i);

Work work_of(const Node& node, const MachineModel& machine);

}  // namespace svengine::tool
