// Softmax, log-softmax and hardmax of float32, softmax and log-softmax of float64.
//
//   softmax:      y_i = exp(x_i - m) / sum_j exp(x_j - m),  m = max_j x_j
//   log-softmax:  y_i = x_i - m - log(sum_j exp(x_j - m))
//   hardmax:      y_i = 1 where x_i is the (first) maximum, else 0
//
// NaN anywhere in a line, a maximum of +infinity and a line of nothing but -infinity give NaN in the whole line of
// softmax and log-softmax, as NumPy and PyTorch do; -infinity beside finite values gives 0 (softmax) and -infinity
// (log-softmax). Hardmax takes the first NaN for the maximum, as numpy.argmax does. A softmax result is within 6 + (m -
// x_i) ULP of the true value where that is normal (the difference is rounded before its exponential is taken).
// Log-softmax is within 2 ULP of the larger of its result and log(n). Sums are blocked and compensated, so the bounds
// hold for any n, in an order fixed by n.
//
// Of doubles the bounds are a unit wider for every 512 elements: their sums are blocked, but not compensated. Results below the
// smallest normal number are 0.
//
// All strides count elements. y may be x itself with the same strides (in place); otherwise they must not overlap.
// Hardmax cannot work in place; its n is below 2^31.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

/// Lines along a middle axis of [outer, n, inner]. inner = 1 is the last axis.
template <class T>
struct SoftmaxArgsOf {
  const T* x = nullptr;
  T* y = nullptr;
  int64_t outer = 0, n = 0, inner = 1;
  // Between outer indices: n * inner when contiguous. Along n the stride is inner, along inner it is 1.
  int64_t x_outer_stride = 0;
  int64_t y_outer_stride = 0;
};

using SoftmaxArgs = SoftmaxArgsOf<float>;
using SoftmaxArgsF64 = SoftmaxArgsOf<double>;

struct SoftmaxKernels {
  TaskKernel<SoftmaxArgs> softmax;
  TaskKernel<SoftmaxArgs> log_softmax;
  TaskKernel<SoftmaxArgs> hardmax;
  TaskKernel<SoftmaxArgsF64> softmax_f64;
  TaskKernel<SoftmaxArgsF64> log_softmax_f64;
};

}  // namespace svengine::kernels
