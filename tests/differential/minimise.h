// Makes a graph that fails small.
#pragma once
#include "tests/differential/worker.h"

namespace svengine::differential {

/// The smallest part found that fails, whatever the way it fails, with its text. The whole graph fails.
Outcome minimise(const WorkerOptions& options, uint64_t seed);

}  // namespace svengine::differential
