// Softmax and log-softmax along contiguous lines.
//
// Three passes over a line: maximum, exponentials and their sum, scaling. Everything about lines and their tails is in
// reduction_loops.h. Short lines go four at a time: what is done once per line (across lanes, reciprocal) then costs once per four. A
// line's result does not depend on how it was grouped.
#include "engine/kernels/softmax.h"

#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/softmax/exp.h"
#include "engine/kernels/sve/softmax/middle.h"
#include "engine/kernels/sve/softmax/softmax_f64.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int kTogether = 4;
constexpr int kSteps = 4;  // vectors whose exponentials are taken in lockstep
constexpr int64_t kShort = 1024;  // four lines, read and written, are then half of A64FX's L1

template <class Op>
SVENGINE_INLINE void horizontal_reduce(vf (&v)[kTogether], const Op& op) {
  v[0] = lanes_of_four(v, op);
}
SVENGINE_INLINE void horizontal_reduce(vf (&v)[1], const auto& op) {
  vf four[4] = {v[0], v[0], v[0], v[0]};
  v[0] = lanes_of_four(four, op);
}

// y(r) = softmax or log-softmax of score(r, i, predicate) for kLines lines r. `score` may read y's own elements, those
// of i before they are written.
template <bool kLog, int kLines, class Score>
SVENGINE_INLINE void softmax_lines(int64_t n, float* const (&y)[kLines], const Score& score) {
  const vb all = svptrue_b32();
  const auto larger_of = [all](vf a, vf b) SVENGINE_INLINE_LAMBDA -> vf { return svmax_x(all, a, b); };
  const auto sum_of = [](vf a, vf b) SVENGINE_INLINE_LAMBDA -> vf { return vadd(a, b); };
  const vf lowest = vdup(-kInfinity);
  vf maximum[kLines], sum[kLines];
  for (int r = 0; r < kLines; ++r)
    maximum[r] = join_line<8>(n, lowest, lowest, larger_of,
                              [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA { return score(r, i, p); });
  horizontal_reduce(maximum, larger_of);
  for (int r = 0; r < kLines; ++r) {
    vf high[1] = {vdup(0.0f)}, low[1] = {vdup(0.0f)};
    const vf top = svdup_lane(maximum[0], r);
    using Sums = vf[2][1];
    accumulate_steps<kSteps, 2, 1>(n, high, low, true, [&](int64_t i, const vb(&p)[kSteps], Sums& acc) SVENGINE_INLINE_LAMBDA {
      Many<kSteps> e;
      SVENGINE_UNROLL
      for (int u = 0; u < kSteps; ++u) e.at[u] = vsub(score(r, i + u * kLanes, p[u]), top);
      e = vexp_of_difference(e);
      SVENGINE_UNROLL
      for (int u = 0; u < kSteps; ++u) {
        if constexpr (!kLog) svst1(p[u], y[r] + i + u * kLanes, e.at[u]);
        acc[u % 2][0] = svadd_m(p[u], acc[u % 2][0], e.at[u]);
      }
    });
    sum[r] = compensated_line<kSteps>(n, high[0], low[0]);
  }
  horizontal_reduce(sum, sum_of);
  const vf scale = kLog ? vlog(sum[0]) : vrecip(sum[0]);
  for (int r = 0; r < kLines; ++r) {
    const vf top = svdup_lane(maximum[0], r), factor = svdup_lane(scale, r);
    for_each_vector<8>(n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      if constexpr (kLog) {
        svst1(p, y[r] + i, vsub(vsub(score(r, i, p), top), factor));
      } else {
        const vf e = svld1(p, y[r] + i);
        svst1(p, y[r] + i, vmul(e, factor));
      }
    });
  }
}

// Calls lines(first, kLines as a constant) so that all of [begin, end) is covered.
template <class Lines>
SVENGINE_INLINE void for_line_groups(int64_t n, int64_t begin, int64_t end, const Lines& lines) {
  int64_t line = begin;
  if (n <= kShort)
    for (; line + kTogether <= end; line += kTogether) lines.template operator()<kTogether>(line);
  for (; line < end; ++line) lines.template operator()<1>(line);
}

int64_t tasks(const SoftmaxArgs& args) noexcept {
  return args.inner == 1 ? TaskPartition(args.outer, args.n).tasks() : softmax_middle_tasks(args);
}

template <bool kLog>
void run(const SoftmaxArgs& args, int64_t begin, int64_t end, void*) noexcept {
  if (args.inner != 1) return softmax_middle<kLog>(args, begin, end);
  const TaskPartition partition(args.outer, args.n);
  for_line_groups(args.n, partition.begin(begin), partition.begin(end), [&]<int kLines>(int64_t line) {
    float* y[kLines];
    for (int r = 0; r < kLines; ++r) y[r] = args.y + (line + r) * args.y_outer_stride;
    const float* x = args.x + line * args.x_outer_stride;
    softmax_lines<kLog, kLines>(args.n, y, [&](int r, int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf {
      return svld1(p, x + r * args.x_outer_stride + i);
    });
  });
}

}  // namespace

extern const SoftmaxKernels softmax_kernels;
const SoftmaxKernels softmax_kernels{{tasks, no_scratch, checked<SoftmaxArgs, run<false>>()},
                                     {tasks, no_scratch, checked<SoftmaxArgs, run<true>>()},
                                     {softmax_middle_tasks, no_scratch, checked<SoftmaxArgs, hardmax>()},
                                     {softmax_f64_tasks, no_scratch, checked<SoftmaxArgsF64, softmax_f64<false>>()},
                                     {softmax_f64_tasks, no_scratch, checked<SoftmaxArgsF64, softmax_f64<true>>()}};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
