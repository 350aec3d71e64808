// A channel's scale and shift, and a channel's mean and variance, in plain and blocked layout.
#include "engine/kernels/sve/norm_channel.h"

#include "engine/kernels/sve/activation.h"
#include "engine/kernels/sve/norm_moments.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

// A plane is a channel of an image: `spatial` values, or `spatial` vectors where the layout is blocked.
int64_t planes(int64_t channels, bool blocked) { return blocked ? ceil_div(channels, kLanes) : channels; }

TaskCut affine_cut(const ChannelAffineArgs& args) {
  return TaskCut(args.batch * planes(args.channels, args.blocked), args.blocked ? args.spatial * kLanes : args.spatial);
}

template <Activation kKind>
void affine_planes(const ChannelAffineArgs& args, int64_t begin, int64_t end) {
  const int64_t per_image = planes(args.channels, args.blocked);
  const int64_t n = args.blocked ? args.spatial * kLanes : args.spatial;
  for (int64_t plane = begin; plane < end; ++plane) {
    const int64_t c = plane % per_image * (args.blocked ? kLanes : 1);
    const vb lanes = svwhilelt_b32(c, args.channels);
    const vf scale = args.blocked ? vf(svld1(lanes, args.scale + c)) : vdup(args.scale[c]);
    const vf shift = args.blocked ? vf(svld1(lanes, args.shift + c)) : vdup(args.shift[c]);
    const float* x = args.x + plane * n;
    float* y = args.y + plane * n;
    for_each_vector<4>(n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      const vf v = vfma(svld1(p, x + i), scale, shift);
      svst1(p, y + i, apply_activation<kKind>(v, args.activation));
    });
  }
}

// Sums of one channel over all images, or of kLanes channels at once where blocked: moments in two passes as in
// norm_moments.h, images added up in order with two_sum.
void plain_moments(const ChannelMomentsArgs& args, int64_t c) {
  const double count = double(args.batch) * double(args.spatial);
  double sum = 0, first = 0, second = 0;
  for (int64_t b = 0; b < args.batch; ++b) {
    const float* x = args.x + (b * args.channels + c) * args.spatial;
    sum += line_sum<8>(args.spatial, [x](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf { return svld1(p, x + i); });
  }
  const float center = float(sum / count);
  const vf middle = vdup(center);
  for (int64_t b = 0; b < args.batch; ++b) {
    const float* x = args.x + (b * args.channels + c) * args.spatial;
    float sums[2];
    line_sums<4, 2>(args.spatial, sums, [&](int64_t i, vb p, vf(&v)[2]) SVENGINE_INLINE_LAMBDA {
      v[0] = vsub(svld1(p, x + i), middle);
      v[1] = vmul(v[0], v[0]);
    });
    first += sums[0];
    second += sums[1];
  }
  const double shift = first / count, variance = second / count - shift * shift;
  args.mean[c] = float(double(center) + shift);
  args.var[c] = float(variance < 0 ? 0 : variance);
}

constexpr int kPixels = 4;  // independent sums of a channel block

// sums[k] += values f makes of every vector of a block, all images; lanes stay apart.
template <int K, class F>
SVENGINE_INLINE void block_sums(const ChannelMomentsArgs& args, int64_t block, vf (&sums)[K], const F& f) {
  const vb all = svptrue_b32();
  const int64_t blocks = ceil_div(args.channels, kLanes);
  const auto add = [](vf a, vf b) SVENGINE_INLINE_LAMBDA -> vf { return vadd(a, b); };
  vf high[K], low[K];
  for (int k = 0; k < K; ++k) high[k] = low[k] = vdup(0.0f);
  for (int64_t b = 0; b < args.batch; ++b) {
    const float* x = args.x + (b * blocks + block) * args.spatial * kLanes;
    for (int64_t i = 0; i < args.spatial;) {
      vf acc[K][kPixels];
      SVENGINE_UNROLL
      for (int u = 0; u < K * kPixels; ++u) acc[u / kPixels][u % kPixels] = vdup(0.0f);
      for (int step = 0; step < kBlockSteps && i < args.spatial; ++step, i += kPixels) {
        SVENGINE_UNROLL
        for (int u = 0; u < kPixels; ++u) {
          if (i + u >= args.spatial) break;
          vf v[K];
          f(svld1(all, x + (i + u) * kLanes), v);
          for (int k = 0; k < K; ++k) acc[k][u] = vadd(acc[k][u], v[k]);
        }
      }
      for (int k = 0; k < K; ++k) {
        combine(acc[k], add);
        two_sum(high[k], low[k], acc[k][0]);
      }
    }
  }
  for (int k = 0; k < K; ++k) sums[k] = compensated(high[k], low[k]);
}

void blocked_moments(const ChannelMomentsArgs& args, int64_t block) {
  const vf inverse_count = vdup(float(1.0 / (double(args.batch) * double(args.spatial))));
  vf sum[1], sums[2];
  block_sums<1>(args, block, sum, [](vf x, vf(&v)[1]) SVENGINE_INLINE_LAMBDA { v[0] = x; });
  const vf center = vmul(sum[0], inverse_count);
  block_sums<2>(args, block, sums, [center](vf x, vf(&v)[2]) SVENGINE_INLINE_LAMBDA {
    v[0] = vsub(x, center);
    v[1] = vmul(v[0], v[0]);
  });
  const vf shift = vmul(sums[0], inverse_count);
  const vf variance = vfnma(shift, shift, vmul(sums[1], inverse_count));
  const int64_t c = block * kLanes;
  const vb lanes = svwhilelt_b32(c, args.channels);
  svst1(lanes, args.mean + c, vadd(center, shift));
  svst1(lanes, args.var + c, vmax(variance, vdup(0.0f)));
}

}  // namespace

int64_t channel_affine_tasks(const ChannelAffineArgs& args) noexcept { return affine_cut(args).tasks(); }

void channel_affine_run(const ChannelAffineArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskCut cut = affine_cut(args);
  const int64_t first = cut.begin(begin), last = cut.begin(end);
  dispatch_activation(args.activation.kind, [&]<Activation kKind>() { affine_planes<kKind>(args, first, last); });
}

int64_t channel_moments_tasks(const ChannelMomentsArgs& args) noexcept { return planes(args.channels, args.blocked); }

void channel_moments_run(const ChannelMomentsArgs& args, int64_t begin, int64_t end, void*) noexcept {
  for (int64_t plane = begin; plane < end; ++plane) {
    if (args.blocked)
      blocked_moments(args, plane);
    else
      plain_moments(args, plane);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
