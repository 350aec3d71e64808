// The gradient of Gather: rows of dy added up where they were taken from.
//
//   dx[o][r][i] = sum over k with indices[k] = r of dy[o][k][i]      in ascending order of k; 0 where there is no such k
//
// dx is [outer, extent, inner], dy [outer, count, inner], both contiguous; they do not overlap. Indices are int32 or int64
// (index_bytes 4 or 8), negative ones count from the end; one out of range is left out (callers have refused it before). A task
// owns some rows of dx and looks through all indices for them, so rows that are hit often need no lock.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

struct GatherGradArgs {
  const float* dy = nullptr;
  const void* indices = nullptr;
  float* dx = nullptr;
  int32_t index_bytes = 8;
  int64_t outer = 1, extent = 0, inner = 1, count = 0;
};

}  // namespace svengine::kernels
