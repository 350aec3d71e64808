// Weighted sums of a few elements: neighbours along one axis, as in linear and cubic resizing, one axis at a time; and any.
#include "engine/kernels/sve/data/kernels.h"
#include "engine/kernels/sve/reduction_loops.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

// Along the last axis an item is a line of `out`, made with gathers; otherwise it is a row of `inner`.
TaskPartition resample_partition(const ResampleArgs& args) {
  return args.inner == 1 ? TaskPartition(args.outer, args.out) : TaskPartition(args.outer * args.out, args.inner);
}

void resample_line(const ResampleArgs& args, const float* x, float* y) {
  for_each_vector<2>(args.out, [&](int64_t j, vb p) SVENGINE_INLINE_LAMBDA {
    const vi first = svld1(p, args.index + j);
    const vb inside = svcmpge(p, first, vdup_int(0));
    vf sum = vmul(svld1(p, args.weight + j), svld1_gather_index(inside, x, first));
    for (int32_t t = 1; t < args.taps; ++t) {
      const vi index = svld1(p, args.index + t * args.out + j);
      sum = vfma(svld1(p, args.weight + t * args.out + j), svld1_gather_index(inside, x, index), sum);
    }
    svst1(p, y + j, svsel(inside, sum, vdup(args.outside)));
  });
}

void resample_row(const ResampleArgs& args, const float* x, int64_t j, float* y) {
  if (args.index[j] < 0) {
    for_each_vector<4>(args.inner,
                       [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA { svst1(p, y + i, vdup(args.outside)); });
    return;
  }
  for_each_vector<4>(args.inner, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    vf sum = vmul(svld1(p, x + args.index[j] * args.inner + i), vdup(args.weight[j]));
    for (int32_t t = 1; t < args.taps; ++t) {
      const int64_t at = t * args.out + j;
      sum = vfma(svld1(p, x + args.index[at] * args.inner + i), vdup(args.weight[at]), sum);
    }
    svst1(p, y + i, sum);
  });
}

void gather_channel(const WeightedGatherArgs& args, const float* x, float* y) {
  for_each_vector<2>(args.count, [&](int64_t j, vb p) SVENGINE_INLINE_LAMBDA {
    vf sum = args.accumulate ? vf(svld1(p, y + j)) : vdup(0.0f);
    for (int64_t t = 0; t < args.taps; ++t) {
      const vi index = svld1(p, args.index + t * args.count + j);
      const vb inside = svcmpge(p, index, vdup_int(0));
      sum = vfma(svld1(p, args.weight + t * args.count + j), svld1_gather_index(inside, x, index), sum);
    }
    svst1(p, y + j, sum);
  });
}

}  // namespace

int64_t weighted_gather_tasks(const WeightedGatherArgs& args) noexcept { return args.count > 0 ? args.channels : 0; }

void weighted_gather_run(const WeightedGatherArgs& args, int64_t begin, int64_t end, void*) noexcept {
  for (int64_t c = begin; c < end; ++c) gather_channel(args, args.x + c * args.x_stride, args.y + c * args.y_stride);
}

int64_t resample_tasks(const ResampleArgs& args) noexcept { return args.out > 0 ? resample_partition(args).tasks() : 0; }

void resample_run(const ResampleArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = resample_partition(args);
  const int64_t image = args.in * args.inner;
  for (int64_t item = partition.begin(begin); item < partition.begin(end); ++item) {
    if (args.inner == 1)
      resample_line(args, args.x + item * image, args.y + item * args.out);
    else
      resample_row(args, args.x + item / args.out * image, item % args.out, args.y + item * args.inner);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
