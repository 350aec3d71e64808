// Cross entropy from log-probabilities, and its gradient.
//
// log_p is [batch, classes, inner], labels [batch, inner]; a position is one of the batch * inner labels. With w the class
// weights (1 without) and s the label smoothing, the target of a position with label l is
//
//     t_c = w_c ((1 - s) [c = l] + s / classes)
//
//   forward:   loss = -sum over c of t_c log_p_c,  weight = w_l
//   backward:  dx_c = -k t_c                                with respect to log_p
//              dx_c = k (exp(log_p_c) sum_j t_j - t_c)      with respect to the scores whose log-softmax log_p is
//
// k being the gradient of that position's loss. A position whose label is `ignore` has loss, weight and gradient 0. Other labels
// must be in [0, classes): callers have checked them. Labels are int32 or int64 (label_bytes 4 or 8). Nothing overlaps, except
// that dx may be log_p.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

struct CrossEntropyArgs {
  const float* log_p = nullptr;
  const void* labels = nullptr;
  const float* class_weights = nullptr;  // [classes]; null: 1
  float* loss = nullptr;                 // [batch, inner]; null: not wanted
  float* weight = nullptr;               // [batch, inner]; null: not wanted
  int64_t batch = 0, classes = 0, inner = 1;
  int32_t label_bytes = 8;
  bool has_ignore = false;
  int64_t ignore = 0;
  float smoothing = 0;
};

struct CrossEntropyGradArgs {
  CrossEntropyArgs forward;    // loss and weight are not used
  const float* k = nullptr;    // [batch, inner], or one for all
  bool k_each = false;
  bool of_scores = true;       // else of log_p
  float* dx = nullptr;         // [batch, classes, inner]
};

}  // namespace svengine::kernels
