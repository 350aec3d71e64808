// Softmax backward: lines of contiguous elements one by one; where the axis is not the last, every lane is a line.
#include "engine/kernels/softmax_grad.h"

#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

template <bool kLog>
SVENGINE_INLINE vf share(vf y, vf dy) {
  return kLog ? dy : vmul(dy, y);
}

template <bool kLog>
SVENGINE_INLINE vf gradient(vf y, vf dy, vf sum) {
  return kLog ? vfnma(vexp(y), sum, dy) : vmul(y, vsub(dy, sum));
}

template <bool kLog>
void line(const float* y, const float* dy, float* dx, int64_t n) {
  const vf sum = vdup(line_sum<4>(
      n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf { return share<kLog>(svld1(p, y + i), svld1(p, dy + i)); }));
  for_each_vector<4>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    svst1(p, dx + i, gradient<kLog>(svld1(p, y + i), svld1(p, dy + i), sum));
  });
}

/// A vector of neighbouring lines, each walked down its column of stride `inner`.
template <bool kLog>
void column(const float* y, const float* dy, float* dx, int64_t n, int64_t inner, vb lanes) {
  constexpr int64_t kBlock = 16;
  vf high = vdup(0.0f), low = vdup(0.0f);
  for (int64_t first = 0; first < n; first += kBlock) {
    vf sum = vdup(0.0f);
    for (int64_t j = first; j < smaller(n, first + kBlock); ++j)
      sum = vadd(sum, share<kLog>(svld1(lanes, y + j * inner), svld1(lanes, dy + j * inner)));
    two_sum(high, low, sum);
  }
  const vf total = compensated(high, low);
  for (int64_t j = 0; j < n; ++j)
    svst1(lanes, dx + j * inner, gradient<kLog>(svld1(lanes, y + j * inner), svld1(lanes, dy + j * inner), total));
}

/// A task's item: a line, or a vector of columns.
TaskPartition partition_of(const SoftmaxGradArgs& args) {
  return args.inner == 1 ? TaskPartition(args.outer, args.n) : TaskPartition(args.outer * ceil_div(args.inner, kLanes), args.n * kLanes);
}

template <bool kLog>
void run_items(const SoftmaxGradArgs& args, int64_t begin, int64_t end) {
  const int64_t columns = ceil_div(args.inner, kLanes);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t first = item % columns * kLanes, at = item / columns * args.n * args.inner + first;
    if (args.inner == 1)
      line<kLog>(args.y + at, args.dy + at, args.dx + at, args.n);
    else
      column<kLog>(args.y + at, args.dy + at, args.dx + at, args.n, args.inner, svwhilelt_b32(first, args.inner));
  }
}

}  // namespace

int64_t softmax_grad_tasks(const SoftmaxGradArgs& args) noexcept { return partition_of(args).tasks(); }

void softmax_grad_run(const SoftmaxGradArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = partition_of(args);
  if (args.log)
    run_items<true>(args, partition.begin(begin), partition.begin(end));
  else
    run_items<false>(args, partition.begin(begin), partition.begin(end));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
