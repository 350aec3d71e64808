// One relative through the engine: types, passes, plan, and a run where that takes little memory.
#pragma once
#include "engine/kernels/kernel_table.h"
#include "tests/hostile/relatives.h"

namespace svengine::tests {

struct AttemptCount {
  int64_t refused = 0, planned = 0, run = 0;
};

/// What is wrong: an inferred type that is not the result's, an error without words or too late, a plan of impossible size. Empty when
/// nothing is. `most_bytes`: of a plan that is run.
std::string attempt(const OpDef& op, const Relative& relative, const kernels::KernelTable& kernels, AttemptCount& count,
                    int64_t most_bytes = int64_t{16} << 20);

}  // namespace svengine::tests
