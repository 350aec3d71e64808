// Optimiser steps: streams, bound by memory; several vectors at a time so that a quotient's latency overlaps with its
// neighbours'.
#include "engine/kernels/optimizer.h"

#include "engine/kernels/elementwise.h"
#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

template <bool kNesterov>
void momentum_step(const OptimizerArgs args, int64_t from, int64_t n) {
  const vf rate = vdup(args.rate), decay = vdup(args.decay), momentum = vdup(args.momentum), share = vdup(args.share);
  const float *x = args.x + from, *g = args.g + from, *v = args.v + from;
  float *x_new = args.x_new + from, *v_new = args.v_new + from;
  for_each_vector<4>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf old = svld1(p, x + i), d = vfma(decay, old, svld1(p, g + i));
    const vf next = vfma(momentum, svld1(p, v + i), vmul(share, d));
    svst1(p, v_new + i, next);
    svst1(p, x_new + i, vfnma(rate, kNesterov ? vfma(momentum, next, d) : next, old));
  });
}

void plain_step(const OptimizerArgs args, int64_t from, int64_t n) {
  const vf rate = vdup(args.rate), decay = vdup(args.decay);
  const float *x = args.x + from, *g = args.g + from;
  float* x_new = args.x_new + from;
  for_each_vector<4>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf old = svld1(p, x + i);
    svst1(p, x_new + i, vfnma(rate, vfma(decay, old, svld1(p, g + i)), old));
  });
}

void adam_step(const OptimizerArgs args, int64_t from, int64_t n) {
  const vf rate = vdup(args.rate), decay = vdup(args.decay), momentum = vdup(args.momentum), share = vdup(args.share);
  const vf h_momentum = vdup(args.h_momentum), h_share = vdup(args.h_share), h_scale = vdup(args.h_scale),
           epsilon = vdup(args.epsilon);
  const vf before = vdup(args.before), after = vdup(args.after);
  const float *x = args.x + from, *g = args.g + from, *v = args.v + from, *h = args.h + from;
  float *x_new = args.x_new + from, *v_new = args.v_new + from, *h_new = args.h_new + from;
  for_each_vector<2>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf old = svld1(p, x + i), d = vfma(decay, old, svld1(p, g + i));
    const vf first = vfma(momentum, svld1(p, v + i), vmul(share, d));
    const vf second = vfma(h_momentum, svld1(p, h + i), vmul(h_share, vmul(d, d)));
    svst1(p, v_new + i, first);
    svst1(p, h_new + i, second);
    const vf quotient = vdiv(first, vfma(h_scale, vsqrt(second), epsilon));
    svst1(p, x_new + i, vmul(after, vfnma(rate, quotient, vmul(before, old))));
  });
}

void adagrad_step(const OptimizerArgs args, int64_t from, int64_t n) {
  const vf rate = vdup(args.rate), decay = vdup(args.decay), epsilon = vdup(args.epsilon);
  const float *x = args.x + from, *g = args.g + from, *h = args.h + from;
  float *x_new = args.x_new + from, *h_new = args.h_new + from;
  for_each_vector<2>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf old = svld1(p, x + i), d = vfma(decay, old, svld1(p, g + i));
    const vf sum = vfma(d, d, svld1(p, h + i));
    svst1(p, h_new + i, sum);
    svst1(p, x_new + i, vfnma(rate, vdiv(d, vadd(vsqrt(sum), epsilon)), old));
  });
}

}  // namespace

int64_t optimizer_tasks(const OptimizerArgs& args) noexcept { return ceil_div(args.n, kElementwiseTask); }

void optimizer_run(const OptimizerArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t from = begin * kElementwiseTask, n = smaller(args.n, end * kElementwiseTask) - from;
  switch (args.rule) {
    case OptimizerRule::kSgd:
      if (!args.v) return plain_step(args, from, n);
      return args.nesterov ? momentum_step<true>(args, from, n) : momentum_step<false>(args, from, n);
    case OptimizerRule::kAdam: return adam_step(args, from, n);
    case OptimizerRule::kAdagrad: return adagrad_step(args, from, n);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
