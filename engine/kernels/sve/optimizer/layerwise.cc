// LARS and LAMB: a pass over memory for the norms, and one for the new weights.
#include "engine/kernels/layerwise_optimizer.h"

#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int kUnroll = 4;  // vectors: independent sums, and quotients whose latencies overlap

/// LAMB's update before its rate, from the new states.
struct LambUpdate {
  vf decay, v_scale, h_scale, epsilon;

  explicit LambUpdate(const LayerwiseArgs& a)
      : decay(vdup(a.decay)), v_scale(vdup(a.v_scale)), h_scale(vdup(a.h_scale)), epsilon(vdup(a.epsilon)) {}
  SVENGINE_INLINE vf operator()(vf x, vf v, vf h) const {
    return vfma(decay, x, vdiv(vmul(v_scale, v), vfma(h_scale, vsqrt(h), epsilon)));
  }
};

/// Four accumulators keep up with any memory; of eight, GCC 12 stores some in every round.
float sum_of_squares(const float* x, int64_t n) {
  return line_sum<kUnroll>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf {
    const vf v = svld1(p, x + i);
    return vmul(v, v);
  });
}

void lars_norms(const LayerwiseArgs& args, int64_t from, int64_t n, float* sums) {
  sums[0] = sum_of_squares(args.x + from, n);
  sums[1] = sum_of_squares(args.g + from, n);
}

void lamb_norms(const LayerwiseArgs& args, int64_t from, int64_t n, float* sums) {
  const LambUpdate update(args);
  const float *x = args.x + from, *g = args.g + from, *v = args.v + from, *h = args.h + from;
  float *v_new = args.v_new + from, *h_new = args.h_new + from;
  float out[2];
  // The states' factors are read where they are used: with them, the loop would have more constants than registers.
  line_sums<kUnroll, 2>(n, out, [=, &args](int64_t i, vb p, vf(&squares)[2]) SVENGINE_INLINE_LAMBDA {
    const vf weight = svld1(p, x + i), gradient = svld1(p, g + i);
    const vf first = vfma(vdup(args.momentum), svld1(p, v + i), vmul(vdup(args.share), gradient));
    const vf square = vmul(gradient, gradient);
    const vf second = vfma(vdup(args.h_momentum), svld1(p, h + i), vmul(vdup(args.h_share), square));
    svst1(p, v_new + i, first);
    svst1(p, h_new + i, second);
    const vf u = update(weight, first, second);
    squares[0] = vmul(weight, weight), squares[1] = vmul(u, u);
  });
  sums[0] = out[0], sums[1] = out[1];
}

float trust_ratio(const LayerwiseArgs& args) {
  if (!args.adapt) return 1;
  double squares[2] = {0, 0};
  for (int64_t i = 0; i < layerwise_partials(args.n); ++i) squares[i % 2] += double(args.partials[i]);
  const double weights = __builtin_sqrt(squares[0]), other = __builtin_sqrt(squares[1]);
  const double divisor = args.rule == LayerwiseRule::kLars ? other + double(args.decay) * weights : other;
  return weights == 0 || divisor == 0 ? 1.0f : float(double(args.trust) * weights / divisor);
}

void lars_step(const LayerwiseArgs& args, int64_t from, int64_t n, float ratio) {
  const vf rate = vdup(args.rate * ratio), decay = vdup(args.decay), momentum = vdup(args.momentum);
  const float *x = args.x + from, *g = args.g + from, *v = args.v + from;
  float *x_new = args.x_new + from, *v_new = args.v_new + from;
  for_each_vector<kUnroll>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf old = svld1(p, x + i), d = vfma(decay, old, svld1(p, g + i));
    const vf next = vfma(momentum, svld1(p, v + i), vmul(rate, d));
    svst1(p, v_new + i, next);
    svst1(p, x_new + i, vsub(old, next));
  });
}

void lamb_step(const LayerwiseArgs& args, int64_t from, int64_t n, float ratio) {
  const vf rate = vdup(args.rate * ratio);
  const LambUpdate update(args);
  const float *x = args.x + from, *v = args.v_new + from, *h = args.h_new + from;
  float* x_new = args.x_new + from;
  for_each_vector<kUnroll>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf old = svld1(p, x + i);
    svst1(p, x_new + i, vfnma(rate, update(old, svld1(p, v + i), svld1(p, h + i)), old));
  });
}

}  // namespace

int64_t layerwise_tasks(const LayerwiseArgs& args) noexcept { return ceil_div(args.n, kElementwiseTask); }

void layerwise_norms_run(const LayerwiseArgs& args, int64_t begin, int64_t end, void*) noexcept {
  for (int64_t task = begin; task < end; ++task) {
    const int64_t from = task * kElementwiseTask, n = smaller(args.n - from, kElementwiseTask);
    if (args.rule == LayerwiseRule::kLars)
      lars_norms(args, from, n, args.partials + 2 * task);
    else
      lamb_norms(args, from, n, args.partials + 2 * task);
  }
}

void layerwise_step_run(const LayerwiseArgs& args, int64_t begin, int64_t end, void*) noexcept {
  if (begin >= end) return;
  const int64_t from = begin * kElementwiseTask, n = smaller(args.n, end * kElementwiseTask) - from;
  const float ratio = trust_ratio(args);
  if (args.rule == LayerwiseRule::kLars)
    lars_step(args, from, n, ratio);
  else
    lamb_step(args, from, n, ratio);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
