// Steps of optimisers: new weights and new state from weights, gradients and state, element by element, in one pass over memory.
//
// With d = g + decay x, the gradient with an L2 penalty:
//
//   kSgd       v' = momentum v + share d      x' = x - rate (nesterov ? d + momentum v' : v')        without v: x' = x - rate d
//   kAdam      v' = momentum v + share d,  h' = h_momentum h + h_share d^2
//              x' = after (before x - rate v' / (h_scale sqrt(h') + epsilon))
//   kAdagrad   h' = h + d^2                   x' = x - rate d / (sqrt(h') + epsilon)
//
// float32; n elements each, contiguous. Every result may be written over the array it is the new value of; otherwise nothing
// overlaps. Each element is a handful of operations, correctly rounded but for the quotient and the root (2 ULP).
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

enum class OptimizerRule : int32_t { kSgd, kAdam, kAdagrad };

struct OptimizerArgs {
  OptimizerRule rule = OptimizerRule::kSgd;
  int64_t n = 0;
  const float* x = nullptr;
  const float* g = nullptr;
  const float* v = nullptr;  // kSgd: may be null; kAdam
  const float* h = nullptr;  // kAdam, kAdagrad
  float* x_new = nullptr;
  float* v_new = nullptr;
  float* h_new = nullptr;
  float rate = 0, decay = 0;
  float momentum = 0, share = 1;
  bool nesterov = false;
  float h_momentum = 0, h_share = 1, h_scale = 1, epsilon = 0;
  float before = 1, after = 1;
};

}  // namespace svengine::kernels
