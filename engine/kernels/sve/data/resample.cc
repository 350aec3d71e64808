// Weighted sums of a few elements: neighbours along one axis, as in linear and cubic resizing, one axis at a time; and any.
#include "engine/kernels/sve/data/kernels.h"
#include "engine/kernels/sve/reduction_loops.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

// Along the last axis an item is a line of `out`, made with gathers; otherwise it is a row of `inner`.
template <class Args>
TaskPartition resample_partition(const Args& args) {
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

/// f(i, predicate) as for_each_vector, of doubles.
template <int U, class F>
SVENGINE_INLINE void for_each_vector_f64(int64_t n, const F& f) {
  constexpr int64_t kDoubles = kLanes / 2;
  int64_t i = 0;
  for (; i + U * kDoubles <= n; i += U * kDoubles) {
    SVENGINE_UNROLL
    for (int u = 0; u < U; ++u) f(i + u * kDoubles, svptrue_b64());
  }
  for (; i < n; i += kDoubles) f(i, svwhilelt_b64(i, n));
}

void resample_line(const ResampleF64Args& args, const double* x, double* y) {
  for_each_vector_f64<2>(args.out, [&](int64_t j, vb p) SVENGINE_INLINE_LAMBDA {
    const vb all = svptrue_b64();
    const vl first = svld1sw_s64(p, args.index + j);
    const vb inside = svcmpge(p, first, int64_t{0});
    vd sum = svmul_x(all, svld1(p, args.weight + j), svld1_gather_index(inside, x, first));
    for (int32_t t = 1; t < args.taps; ++t) {
      const vl index = svld1sw_s64(p, args.index + t * args.out + j);
      sum = svadd_x(all, sum, svmul_x(all, svld1(p, args.weight + t * args.out + j), svld1_gather_index(inside, x, index)));
    }
    svst1(p, y + j, svsel(inside, sum, svdup_f64(args.outside)));
  });
}

void resample_row(const ResampleF64Args& args, const double* x, int64_t j, double* y) {
  const bool exists = args.index[j] >= 0;
  for_each_vector_f64<4>(args.inner, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vb all = svptrue_b64();
    if (!exists) return svst1(p, y + i, svdup_f64(args.outside));
    vd sum = svmul_x(all, svld1(p, x + args.index[j] * args.inner + i), svdup_f64(args.weight[j]));
    for (int32_t t = 1; t < args.taps; ++t) {
      const int64_t at = t * args.out + j;
      sum = svadd_x(all, sum, svmul_x(all, svld1(p, x + args.index[at] * args.inner + i), svdup_f64(args.weight[at])));
    }
    svst1(p, y + i, sum);
  });
}

template <class Args>
void resample_items(const Args& args, int64_t begin, int64_t end) {
  const TaskPartition partition = resample_partition(args);
  const int64_t image = args.in * args.inner;
  for (int64_t item = partition.begin(begin); item < partition.begin(end); ++item) {
    if (args.inner == 1)
      resample_line(args, args.x + item * image, args.y + item * args.out);
    else
      resample_row(args, args.x + item / args.out * image, item % args.out, args.y + item * args.inner);
  }
}

// The sum with one product more, or the larger of it and the maximum so far, which the first product begins.
template <bool kLargest>
SVENGINE_INLINE vf join_tap(vf so_far, vf weight, vf x, bool first) {
  if constexpr (!kLargest) return vfma(weight, x, so_far);
  const vf product = vmul(weight, x);
  return first ? product : vsel(vgt(product, so_far), product, so_far);
}

template <bool kLargest>
void gather_channel(const WeightedGatherArgs& args, const float* x, float* y) {
  for_each_vector<2>(args.count, [&](int64_t j, vb p) SVENGINE_INLINE_LAMBDA {
    vf sum = args.accumulate ? vf(svld1(p, y + j)) : vdup(0.0f);
    for (int64_t t = 0; t < args.taps; ++t) {
      const vi index = svld1(p, args.index + t * args.count + j);
      const vb inside = svcmpge(p, index, vdup_int(0));
      const vf weight = svld1(kLargest ? inside : p, args.weight + t * args.count + j);
      sum = join_tap<kLargest>(sum, weight, svld1_gather_index(inside, x, index), t == 0 && !args.accumulate);
    }
    svst1(p, y + j, sum);
  });
}

// What one position of a block has so far, with its tap t. A tap that reads nothing loads no lane: its weight may meet a NaN in x.
template <bool kLargest>
SVENGINE_INLINE vf add_tap(const WeightedGatherArgs& args, const float* x, int64_t t, int64_t j, vf sum) {
  const int32_t index = args.index[t * args.count + j];
  const vb read = index < 0 ? svpfalse_b() : svptrue_b32();
  const float weight = kLargest && index < 0 ? 0 : args.weight[t * args.count + j];
  return join_tap<kLargest>(sum, vdup(weight), svld1(read, x + larger(index, 0) * int64_t{kLanes}), t == 0 && !args.accumulate);
}

// Four positions at a time: a sum of its own for each hides the latency of the others' multiply-adds.
template <bool kLargest>
void gather_block(const WeightedGatherArgs& args, const float* x, float* y) {
  const vb all = svptrue_b32();
  const auto start = [&](int64_t j) SVENGINE_INLINE_LAMBDA { return args.accumulate ? vf(svld1(all, y + j * kLanes)) : vdup(0.0f); };
  const auto joined = [&](int64_t t, int64_t j, vf sum) SVENGINE_INLINE_LAMBDA { return add_tap<kLargest>(args, x, t, j, sum); };
  int64_t j = 0;
  for (; j + 4 <= args.count; j += 4) {
    vf sum0 = start(j), sum1 = start(j + 1), sum2 = start(j + 2), sum3 = start(j + 3);
    for (int64_t t = 0; t < args.taps; ++t) {
      sum0 = joined(t, j, sum0), sum1 = joined(t, j + 1, sum1);
      sum2 = joined(t, j + 2, sum2), sum3 = joined(t, j + 3, sum3);
    }
    svst1(all, y + j * kLanes, sum0), svst1(all, y + (j + 1) * kLanes, sum1);
    svst1(all, y + (j + 2) * kLanes, sum2), svst1(all, y + (j + 3) * kLanes, sum3);
  }
  for (; j < args.count; ++j) {
    vf sum = start(j);
    for (int64_t t = 0; t < args.taps; ++t) sum = joined(t, j, sum);
    svst1(all, y + j * kLanes, sum);
  }
}

}  // namespace

int64_t weighted_gather_tasks(const WeightedGatherArgs& args) noexcept {
  if (args.count <= 0) return 0;
  return args.blocked ? ceil_div(args.channels, kLanes) : args.channels;
}

void weighted_gather_run(const WeightedGatherArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const auto run = args.largest   ? (args.blocked ? gather_block<true> : gather_channel<true>)
                   : args.blocked ? gather_block<false>
                                  : gather_channel<false>;
  for (int64_t c = begin; c < end; ++c) run(args, args.x + c * args.x_stride, args.y + c * args.y_stride);
}

int64_t resample_tasks(const ResampleArgs& args) noexcept { return args.out > 0 ? resample_partition(args).tasks() : 0; }

void resample_run(const ResampleArgs& args, int64_t begin, int64_t end, void*) noexcept { resample_items(args, begin, end); }

int64_t resample_f64_tasks(const ResampleF64Args& args) noexcept { return args.out > 0 ? resample_partition(args).tasks() : 0; }

void resample_f64_run(const ResampleF64Args& args, int64_t begin, int64_t end, void*) noexcept { resample_items(args, begin, end); }

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
