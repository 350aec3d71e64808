// Bounds of one input: what a network of a few small values may take.
#pragma once
#include "engine/base/limits.h"
#include "engine/kernels/kernel_table.h"

namespace svengine::fuzz {

/// While it lives, the engine refuses what takes more memory or time; so what takes long all the same is a finding.
class UnderLimits {
 public:
  UnderLimits() {
    set_memory_limit(size_t{4} << 20);
    set_time_limit(0.2);
  }
  ~UnderLimits() {
    set_memory_limit(0);
    set_time_limit(0);
  }
  UnderLimits(const UnderLimits&) = delete;
  UnderLimits& operator=(const UnderLimits&) = delete;
};

/// The best kernel set that there is; the reference under libFuzzer.
const kernels::KernelTable& fuzzed_kernels();

}  // namespace svengine::fuzz
