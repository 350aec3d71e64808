// Softmax and log-softmax along contiguous lines.
//
// Three passes over a line: maximum, exponentials and their sum, scaling. Everything about lines and their tails is in
// reduction_loops.h. Lines go four at a time: what is done once per line (across lanes, reciprocal) then costs once per four. Lines of few
// vectors go kLanes at a time (line_folds.h). A line's result does not depend on how it was grouped.
#include "engine/kernels/softmax.h"

#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/line_folds.h"
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

constexpr int kShortVectors = 4;  // of a line that is one of kLanes
constexpr int kFewLines = 4;      // as many go by four and one, in less than two folds

// Lines of kU vectors at most: softmax_lines() of each, with the same bits.
template <bool kLog, int kU>
class ShortLines {
 public:
  explicit ShortLines(const SoftmaxArgs& args) : args_(args) {
    for (int u = 0; u < kU; ++u) p_[u] = svwhilelt_b32(int64_t(u * kLanes), args.n);
  }

  [[gnu::noinline]] void run(int64_t first, int lines) {
    const float* x = args_.x + first * args_.x_outer_stride;
    float* y = args_.y + first * args_.y_outer_stride;
    store_maxima(x, lines);
    const auto larger_of = [](vf a, vf b) SVENGINE_INLINE_LAMBDA -> vf { return vmax(a, b); };
    svst1(svptrue_b32(), top_, fold<FoldOrder::kNeighbours>(partial_, larger_of));
    for (int r = 0; r < lines; r += kStep) store_exponentials(x, y, r, lines);
    const vf sum = fold<FoldOrder::kNeighbours>(partial_, [](vf a, vf b) SVENGINE_INLINE_LAMBDA -> vf { return vadd(a, b); });
    svst1(svptrue_b32(), scale_, kLog ? vlog(sum) : vrecip(sum));
    store_results(x, y, lines);
  }

 private:
  static constexpr int kStep = kSteps / kU;  // lines whose exponentials are taken in lockstep

  SVENGINE_INLINE void store_maxima(const float* x, int lines) {
    for (int r = 0; r < lines; ++r) {
      vf most = vsel(p_[0], svld1(p_[0], x + r * args_.x_outer_stride), vdup(-kInfinity));
      SVENGINE_UNROLL
      for (int u = 1; u < kU; ++u) most = svmax_m(p_[u], most, svld1(p_[u], x + r * args_.x_outer_stride + u * kLanes));
      svst1(svptrue_b32(), partial_.line(r), most);
    }
  }

  // Of kStep lines from r on; the last one again where there are fewer.
  SVENGINE_INLINE void store_exponentials(const float* x, float* y, int r, int lines) {
    Many<kSteps> e;
    SVENGINE_UNROLL
    for (int k = 0; k < kSteps; ++k) {
      const int64_t line = smaller(r + k / kU, lines - 1);
      e.at[k] = vsub(svld1(p_[k % kU], x + line * args_.x_outer_stride + k % kU * kLanes), vdup(top_[line]));
    }
    e = vexp_of_difference(e);
    SVENGINE_UNROLL
    for (int k = 0; k < kSteps; k += kU) {
      const int64_t line = smaller(r + k / kU, lines - 1);
      vf sum[2] = {vdup(0.0f), vdup(0.0f)};
      SVENGINE_UNROLL
      for (int u = 0; u < kU; ++u) {
        if constexpr (!kLog) svst1(p_[u], y + line * args_.y_outer_stride + u * kLanes, e.at[k + u]);
        sum[u % 2] = svadd_m(p_[u], sum[u % 2], e.at[k + u]);
      }
      svst1(svptrue_b32(), partial_.line(int(line)), vadd(sum[0], sum[1]));
    }
  }

  SVENGINE_INLINE void store_results(const float* x, float* y, int lines) {
    for (int r = 0; r < lines; ++r) {
      float* to = y + r * args_.y_outer_stride;
      SVENGINE_UNROLL
      for (int u = 0; u < kU; ++u) {
        const vf from = svld1(p_[u], kLog ? x + r * args_.x_outer_stride + u * kLanes : to + u * kLanes);
        svst1(p_[u], to + u * kLanes, kLog ? vsub(vsub(from, vdup(top_[r])), vdup(scale_[r])) : vmul(from, vdup(scale_[r])));
      }
    }
  }

  const SoftmaxArgs& args_;
  vb p_[kU];
  LineVectors<float> partial_;
  float top_[kLanes], scale_[kLanes];
};

// As many lines of [begin, end) as go kLanes at a time; returns the first of the others.
template <bool kLog, int kU>
int64_t run_short_lines(const SoftmaxArgs& args, int64_t begin, int64_t end) {
  ShortLines<kLog, kU> lines(args);
  for (; end - begin > kFewLines; begin += smaller(kLanes, end - begin)) lines.run(begin, int(smaller(kLanes, end - begin)));
  return begin;
}

constexpr int64_t kBeside = 4;  // elements of a line that goes beside others, a lane each

// As many lines of at most kBeside elements as a vector has lanes, read and written by gathers and scatters.
template <bool kLog>
[[gnu::noinline]] void lines_beside(const SoftmaxArgs& args, int64_t first, int64_t lines) {
  const vb all = svptrue_b32(), p = svwhilelt_b32(int64_t(0), lines);
  const vi from = svindex_s32(0, int32_t(args.x_outer_stride)), to = svindex_s32(0, int32_t(args.y_outer_stride));
  float kept[kBeside * kLanes];
  vf top = vdup(-kInfinity), sum = vdup(0.0f);
#pragma GCC unroll 1
  for (int64_t j = 0; j < args.n; ++j) {
    const vf x = svld1_gather_index(p, args.x + first * args.x_outer_stride + j, from);
    svst1(all, kept + j * kLanes, x);
    top = vmax(top, x);
  }
#pragma GCC unroll 1
  for (int64_t j = 0; j < args.n; ++j) {
    Many<1> e;
    e.at[0] = vsub(svld1(all, kept + j * kLanes), top);
    if constexpr (kLog) svst1(all, kept + j * kLanes, e.at[0]);
    e = vexp_of_difference(e);
    if constexpr (!kLog) svst1(all, kept + j * kLanes, e.at[0]);
    sum = vadd(sum, e.at[0]);
  }
  const vf last = kLog ? vlog(sum) : vrecip(sum);
#pragma GCC unroll 1
  for (int64_t j = 0; j < args.n; ++j) {
    const vf x = svld1(all, kept + j * kLanes);
    svst1_scatter_index(p, args.y + first * args.y_outer_stride + j, to, kLog ? vsub(x, last) : vmul(x, last));
  }
}

int64_t tasks(const SoftmaxArgs& args) noexcept {
  return args.inner == 1 ? TaskPartition(args.outer, args.n).tasks() : softmax_middle_tasks(args);
}

template <bool kLog>
void run(const SoftmaxArgs& args, int64_t begin, int64_t end, void*) noexcept {
  if (args.inner != 1) return softmax_middle<kLog>(args, begin, end);
  const TaskPartition partition(args.outer, args.n);
  int64_t first = partition.begin(begin);
  const int64_t last = partition.begin(end);
  const int64_t most = larger(args.x_outer_stride, args.y_outer_stride);
  if (args.n <= kBeside && most < INT32_MAX / kLanes) {
    for (; first < last; first += kLanes) lines_beside<kLog>(args, first, smaller(kLanes, last - first));
    return;
  }
  if (args.n <= kLanes)
    first = run_short_lines<kLog, 1>(args, first, last);
  else if (args.n <= 2 * kLanes)
    first = run_short_lines<kLog, 2>(args, first, last);
  else if (args.n <= kShortVectors * kLanes)
    first = run_short_lines<kLog, kShortVectors>(args, first, last);
  for_line_groups(args.n, first, last, [&]<int kLines>(int64_t line) {
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
