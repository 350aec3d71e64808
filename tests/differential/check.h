// One random graph run in all the ways that must make no difference.
//
//   every kernel set     node by node                     every value, against the first set's
//                        session, no pass                 outputs
//                        session, all passes, 1 thread    outputs; again with the run's memory used before: the same bits
//                        session, all passes, 3 threads   the same bits as with 1
#pragma once
#include <string>
#include <vector>

#include "tests/differential/graph_maker.h"

namespace svengine::differential {

struct CheckOptions {
  std::vector<const kernels::KernelTable*> kernels;  // the first is what the others are compared with
  uint64_t seed = 0;                                 // chooses the less usual ways to run
};

/// What is wrong, one line for each finding; empty when nothing is.
std::string check(const RandomGraph& graph, const CheckOptions& options, const Progress& progress);

}  // namespace svengine::differential
