// Steps of optimisers that give every tensor a rate of its own, by the ratio of the norms of its values and of its update:
//
//   kLars   You, Gitman, Ginsburg 2017, arXiv 1708.03888, algorithm 1:
//           v' = momentum v + rate r (g + decay x)               x' = x - v'          r = trust |x| / (|g| + decay |x|)
//   kLamb   You et al., ICLR 2020, arXiv 1904.00962, algorithm 2, with phi(z) = z:
//           v' = momentum v + share g,  h' = h_momentum h + h_share g^2
//           u = v_scale v' / (h_scale sqrt(h') + epsilon) + decay x                   x' = x - rate r u       r = |x| / |u|
//
// r is 1 where |x| or its divisor is 0, and always without `adapt`. The norms are of the whole tensor, so there are two kernels,
// and all tasks of the first come before any of the second:
//
//   layerwise_norms   partials[2 t], [2 t + 1] = task t's sum of x^2, and of g^2 (kLars) or u^2 (kLamb);   kLamb: v', h'
//   layerwise_step    the sum of all partials in their order, so the same for any number of threads;       the rest
//
// float32; n elements each, contiguous, in tasks of kElementwiseTask. Every result may be written over the array it is the new
// value of; otherwise nothing overlaps. Within a task sums are compensated, and partials are added up in double.
#pragma once
#include <cstdint>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

enum class LayerwiseRule : int32_t { kLars, kLamb };

struct LayerwiseArgs {
  LayerwiseRule rule = LayerwiseRule::kLars;
  int64_t n = 0;
  const float* x = nullptr;
  const float* g = nullptr;
  const float* v = nullptr;
  const float* h = nullptr;  // kLamb
  float* x_new = nullptr;
  float* v_new = nullptr;
  float* h_new = nullptr;     // kLamb
  float* partials = nullptr;  // layerwise_partials(n) of them
  float rate = 0, decay = 0, trust = 1;
  float momentum = 0, share = 1, v_scale = 1;
  float h_momentum = 0, h_share = 1, h_scale = 1, epsilon = 0;
  bool adapt = true;
};

constexpr int64_t layerwise_partials(int64_t n) { return 2 * ((n + kElementwiseTask - 1) / kElementwiseTask); }

}  // namespace svengine::kernels
