// A channel's scale and shift, and a channel's mean and variance, in plain and blocked layout.
#include "engine/kernels/sve/norm/channel.h"

#include "engine/kernels/sve/activation/activation.h"
#include "engine/kernels/sve/norm/moments.h"
#include "engine/kernels/sve/pixel_sums.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

// A plane is a channel of an image: `spatial` values, or `spatial` vectors where the layout is blocked.
int64_t planes(int64_t channels, bool blocked) { return blocked ? ceil_div(channels, kLanes) : channels; }

TaskPartition affine_cut(const ChannelAffineArgs& args) {
  return TaskPartition(args.batch * planes(args.channels, args.blocked), args.blocked ? args.spatial * kLanes : args.spatial);
}

template <Activation kKind, bool kResidual>
void affine_planes(const ChannelAffineArgs& args, int64_t begin, int64_t end) {
  const int64_t per_image = planes(args.channels, args.blocked);
  const int64_t n = args.blocked ? args.spatial * kLanes : args.spatial;
  for (int64_t plane = begin; plane < end; ++plane) {
    const int64_t c = plane % per_image * (args.blocked ? kLanes : 1);
    const vb lanes = svwhilelt_b32(c, args.channels);
    const vf scale = args.blocked ? vf(svld1(lanes, args.scale + c)) : vdup(args.scale[c]);
    const vf shift = args.blocked ? vf(svld1(lanes, args.shift + c)) : vdup(args.shift[c]);
    const float* x = args.x + plane * n;
    [[maybe_unused]] const float* residual = args.residual + (kResidual ? plane * n : 0);
    float* y = args.y + plane * n;
    for_each_vector<4>(n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      vf v = vfma(svld1(p, x + i), scale, shift);
      if constexpr (kResidual) v = vadd(v, svld1(p, residual + i));
      svst1(p, y + i, apply_activation<kKind>(v, args.activation));
    });
  }
}

void plain_moments(const ChannelMomentsArgs& args, int64_t image, int64_t c) {
  const float* x = args.x + (image * args.channels + c) * args.spatial;
  const Moments m = line_moments(args.spatial, [x](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf { return svld1(p, x + i); });
  float* to = args.moments + image * 3 * args.channels + c;
  to[0] = m.center;
  to[args.channels] = m.correction == m.correction ? m.correction : 0;  // of an infinite mean NaN, infinity - infinity
  to[2 * args.channels] = m.variance;
}

/// kLanes channels at once, in two passes as in norm/moments.h.
void blocked_moments(const ChannelMomentsArgs& args, int64_t image, int64_t block) {
  const vb all = svptrue_b32();
  const int64_t blocks = planes(args.channels, true);
  const float* x = args.x + (image * blocks + block) * args.spatial * kLanes;
  const vf inverse_count = vdup(float(1.0 / double(args.spatial)));
  vf sum[1], sums[2];
  pixel_sums<1>(args.spatial, sum, [&](int64_t i, vf(&v)[1]) SVENGINE_INLINE_LAMBDA { v[0] = svld1(all, x + i * kLanes); });
  const vf center = vmul(sum[0], inverse_count);
  pixel_sums<2>(args.spatial, sums, [&](int64_t i, vf(&v)[2]) SVENGINE_INLINE_LAMBDA {
    v[0] = vsub(svld1(all, x + i * kLanes), center);
    v[1] = vmul(v[0], v[0]);
  });
  const vf shift = vmul(sums[0], inverse_count);
  float* to = args.moments + (image * 3 * blocks + block) * kLanes;
  svst1(all, to, center);
  svst1(all, to + blocks * kLanes, vsel(veq(shift, shift), shift, vdup(0.0f)));
  svst1(all, to + 2 * blocks * kLanes, vmax(vfnma(shift, shift, vmul(sums[1], inverse_count)), 0.0f));
}

TaskPartition moments_cut(const ChannelMomentsArgs& args) {
  return TaskPartition(args.batch * planes(args.channels, args.blocked), args.blocked ? args.spatial * kLanes : args.spatial);
}

}  // namespace

int64_t channel_affine_tasks(const ChannelAffineArgs& args) noexcept { return affine_cut(args).tasks(); }

void channel_affine_run(const ChannelAffineArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = affine_cut(args);
  const int64_t first = partition.begin(begin), last = partition.begin(end);
  dispatch_activation(args.activation.kind, [&]<Activation kKind>() {
    if (args.residual)
      affine_planes<kKind, true>(args, first, last);
    else
      affine_planes<kKind, false>(args, first, last);
  });
}

int64_t channel_moments_tasks(const ChannelMomentsArgs& args) noexcept { return moments_cut(args).tasks(); }

void channel_moments_run(const ChannelMomentsArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = moments_cut(args);
  const int64_t per_image = planes(args.channels, args.blocked);
  for (int64_t plane = partition.begin(begin); plane < partition.begin(end); ++plane) {
    if (args.blocked)
      blocked_moments(args, plane / per_image, plane % per_image);
    else
      plain_moments(args, plane / per_image, plane % per_image);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
