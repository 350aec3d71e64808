// Group and instance norm, plain layout: a group's channels are one contiguous line for the statistics, and one segment
// each for scale and shift.
#include "engine/kernels/sve/norm/channel.h"
#include "engine/kernels/sve/norm/moments.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

TaskPartition group_cut(const GroupNormArgs& args) {
  return TaskPartition(args.batch * args.groups, args.channels / args.groups * args.spatial);
}

void group_norm_line(const GroupNormArgs& args, int64_t line) {
  const int64_t channels = args.channels / args.groups, n = channels * args.spatial;
  const float* x = args.x + line * n;
  const Moments m = line_moments(n, [x](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf { return svld1(p, x + i); });
  const float inv_std = inverse_std(m.variance, args.epsilon);
  if (args.mean) args.mean[line] = whole_mean(m);
  if (args.inv_std) args.inv_std[line] = inv_std;
  const vf center = vdup(m.center), correction = vdup(m.correction);
  for (int64_t k = 0; k < channels; ++k) {
    const int64_t c = line % args.groups * channels + k;
    const float scale = args.scale ? args.scale[c] : 1.0f, bias = args.bias ? args.bias[c] : 0.0f;
    const vf factor = vdup(inv_std * scale), shift = vdup(bias);
    const float* from = x + k * args.spatial;
    float* to = args.y + line * n + k * args.spatial;
    for_each_vector<8>(args.spatial, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      // Not d * factor + (shift - correction * factor), which is NaN where the scale is infinite.
      const vf d = vsub(vsub(svld1(p, from + i), center), correction);
      svst1(p, to + i, vfma(d, factor, shift));
    });
  }
}

}  // namespace

int64_t group_norm_tasks(const GroupNormArgs& args) noexcept { return group_cut(args).tasks(); }

void group_norm_run(const GroupNormArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = group_cut(args);
  for (int64_t line = partition.begin(begin); line < partition.begin(end); ++line) group_norm_line(args, line);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
