#include "bench/fma_peak.h"

#include <time.h>

#include <cstdint>

namespace svengine::bench {

// Each returns the operations it did.
#define SVENGINE_QUANTIZED_ROW(...)
#define SVENGINE_KERNEL_SET_ROW(set, runs) int64_t fma_loop_##set(int64_t rounds, float* sink);
#include "kernel_sets.inc"
#undef SVENGINE_KERNEL_SET_ROW

namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double fma_peak(std::string_view kernel_set) {
  using Loop = int64_t (*)(int64_t, float*);
  Loop loop = nullptr;
#define SVENGINE_KERNEL_SET_ROW(set, runs) \
  if (kernel_set == #set) loop = fma_loop_##set;
#include "kernel_sets.inc"
#undef SVENGINE_KERNEL_SET_ROW
#undef SVENGINE_QUANTIZED_ROW
  if (!loop) return 0;
  float sink[64];
  const double start = thread_seconds();
  const int64_t operations = loop(100000, sink);
  return static_cast<double>(operations) / (thread_seconds() - start);
}

}  // namespace svengine::bench
