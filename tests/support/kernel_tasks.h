// Runs task kernels in tests, in the ways that must make no difference.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/kernels/task_kernel.h"
#include "tests/support/guarded_buffer.h"

namespace svengine::tests {

/// Runs all tasks in `parts` ranges, the last one first, each with its own poisoned scratch that ends at a guard page.
template <class Args>
void run_tasks(const kernels::TaskKernel<Args>& kernel, const Args& args, int64_t parts = 3) {
  const int64_t tasks = kernel.tasks(args);
  const int64_t bytes = (kernel.scratch_bytes(args) + 255) / 256 * 256;
  for (int64_t part = parts - 1; part >= 0; --part) {
    GuardedBuffer<float> scratch(static_cast<size_t>(bytes / 4));
    kernel.run(args, tasks * part / parts, tasks * (part + 1) / parts, bytes ? scratch.data() : nullptr);
    if (!scratch.intact()) FAIL("the kernel wrote outside its scratch");
  }
}

/// Distance of a float from the double it should be, in units of the last place of that float; both NaN is 0.
inline double ulp_error(float got, double want) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : HUGE_VAL;
  const float rounded = static_cast<float>(want);
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : HUGE_VAL;
  const double magnitude = std::max(std::fabs(want), double{std::numeric_limits<float>::min()});
  return std::fabs(got - want) / std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

/// Same bytes, or both NaN (whose payloads differ between instruction sets).
template <class T>
bool same_values(const T* a, const T* b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (std::memcmp(a + i, b + i, sizeof(T)) == 0) continue;
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    }
    return false;
  }
  return true;
}

}  // namespace svengine::tests
