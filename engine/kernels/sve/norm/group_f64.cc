// Group norm of doubles. Moments as in norm/moments.h.
#include "engine/kernels/sve/lines_f64.h"
#include "engine/kernels/sve/norm/channel.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {
namespace {

TaskPartition group_cut(const GroupNormArgsF64& args) {
  return TaskPartition(args.batch * args.groups, args.channels / args.groups * args.spatial);
}

struct MomentsF64 {
  double center, correction, variance;
};

MomentsF64 moments_of(const double* x, int64_t n) {
  const double inverse_count = 1.0 / double(n);
  double sum[1], sums[2];
  sum_line(n, sum, [=](int64_t i, const Lanes& p, Vectors(&v)[1]) SVENGINE_INLINE_LAMBDA { v[0] = load(p, x + i); });
  const double center = sum[0] * inverse_count;
  sum_line(n, sums, [=](int64_t i, const Lanes& p, Vectors(&v)[2]) SVENGINE_INLINE_LAMBDA {
    v[0] = vsub(load(p, x + i), vdup(center));
    v[1] = vmul(v[0], v[0]);
  });
  const double correction = sums[0] * inverse_count, variance = sums[1] * inverse_count - correction * correction;
  return {center, correction, variance < 0 ? 0 : variance};
}

/// Channels of one pixel, as the elements of layer norm's rows are: every element has a scale and shift of its own.
void apply_to_pixel(const double* x, double* y, int64_t n, const double* scale, const double* bias, const MomentsF64& m, double inv_std) {
  for_steps(n, [=](int64_t i, const Lanes& p) SVENGINE_INLINE_LAMBDA {
    const Vectors d = vmul(vsub(vsub(load(p, x + i), vdup(m.center)), vdup(m.correction)), vdup(inv_std));
    store(p, y + i, vfma(d, scale ? load(p, scale + i) : many_of<kMany>(1), bias ? load(p, bias + i) : many_of<kMany>(0)));
  });
}

void apply_to_channel(const double* x, double* y, int64_t n, double factor, double shift, const MomentsF64& m) {
  for_steps(n, [=](int64_t i, const Lanes& p) SVENGINE_INLINE_LAMBDA {
    const Vectors d = vsub(vsub(load(p, x + i), vdup(m.center)), vdup(m.correction));
    store(p, y + i, vfma(d, vdup(factor), vdup(shift)));
  });
}

void group_norm_line(const GroupNormArgsF64& args, int64_t line) {
  const int64_t channels = args.channels / args.groups, n = channels * args.spatial, first = line % args.groups * channels;
  const double *x = args.x + line * n, *scale = args.scale ? args.scale + first : nullptr, *bias = args.bias ? args.bias + first : nullptr;
  double* y = args.y + line * n;
  const MomentsF64 m = moments_of(x, n);
  const double inv_std = 1 / __builtin_sqrt(m.variance + double(args.epsilon));
  // Where the mean is infinite, the correction is NaN (infinity - infinity).
  if (args.mean) args.mean[line] = float(m.correction == m.correction ? m.center + m.correction : m.center);
  if (args.inv_std) args.inv_std[line] = float(inv_std);
  if (args.spatial == 1) return apply_to_pixel(x, y, n, scale, bias, m, inv_std);
  for (int64_t c = 0; c < channels; ++c)
    apply_to_channel(x + c * args.spatial, y + c * args.spatial, args.spatial, inv_std * (scale ? scale[c] : 1), bias ? bias[c] : 0, m);
}

}  // namespace

int64_t group_norm_f64_tasks(const GroupNormArgsF64& args) noexcept { return group_cut(args).tasks(); }

void group_norm_f64_run(const GroupNormArgsF64& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = group_cut(args);
  for (int64_t line = partition.begin(begin); line < partition.begin(end); ++line) group_norm_line(args, line);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
