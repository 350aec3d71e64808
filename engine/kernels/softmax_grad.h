// Gradients of softmax and log-softmax along n of [outer, n, inner], from the result y and its gradient:
//
//   softmax:      dx_i = y_i (dy_i - sum_j dy_j y_j)
//   log-softmax:  dx_i = dy_i - exp(y_i) sum_j dy_j
//
// float32, contiguous. dx may be dy or y; otherwise nothing may overlap. Sums are blocked and compensated, in an order fixed by
// the shape.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

struct SoftmaxGradArgs {
  const float* y = nullptr;
  const float* dy = nullptr;
  float* dx = nullptr;
  int64_t outer = 0, n = 0, inner = 1;
  bool log = false;
};

}  // namespace svengine::kernels
