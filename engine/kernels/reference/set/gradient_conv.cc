// The gradient of a convolution's weights: the sums of conv_grad.h, one pair of channels at a time, straight to dw. db waits
// between the kernels, because only the first sees dy and only the second writes db.
#include "engine/kernels/reference/set/gradient.h"
#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

/// The sum over an output plane of dy times the input that tap (ky, kx) sees.
double tap_sum(const ConvShape& s, const float* in, int64_t in_step, const float* dy, int64_t dy_step, int64_t ky, int64_t kx) {
  double sum = 0;
  for (int64_t oy = 0; oy < s.out.height; ++oy) {
    const int64_t y = oy * s.stride.height - s.pad.height + ky * s.dilation.height;
    if (y < 0 || y >= s.in.height) continue;
    for (int64_t ox = 0; ox < s.out.width; ++ox) {
      const int64_t x = ox * s.stride.width - s.pad.width + kx * s.dilation.width;
      if (x < 0 || x >= s.in.width) continue;
      sum += double{dy[(oy * s.out.width + ox) * dy_step]} * in[(y * s.in.width + x) * in_step];
    }
  }
  return sum;
}

Plane dy_plane(const ConvWeightGradArgs& args, int64_t image, int64_t channel) {
  return plane_of(true, image, channel, args.shape.out_channels, volume(args.shape.out));
}

double bias_sum(const ConvWeightGradArgs& args, int64_t channel) {
  double sum = 0;
  for (int64_t image = 0; image < args.shape.batch; ++image) {
    const Plane dy = dy_plane(args, image, channel);
    for (int64_t i = 0; i < volume(args.shape.out); ++i) sum += double{args.dy[dy.start + i * dy.step]};
  }
  return sum;
}

}  // namespace

int64_t weight_sums_bytes(const ConvWeightGradArgs& args) noexcept {
  return args.bias ? round_up(args.shape.out_channels * 4, 256) : 0;
}

/// Pairs of an output and an input channel of its group.
int64_t weight_sum_items(const ConvWeightGradArgs& args) { return args.shape.out_channels * (args.shape.in_channels / args.shape.groups); }

void weight_sum_range(const ConvWeightGradArgs& args, int64_t begin, int64_t end, void*) {
  const ConvShape& s = args.shape;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t inputs = s.in_channels / s.groups, o = item / inputs, i = o / (s.out_channels / s.groups) * inputs + item % inputs;
    for (int64_t ky = 0; ky < s.kernel.height; ++ky)
      for (int64_t kx = 0; kx < s.kernel.width; ++kx) {
        double sum = 0;
        for (int64_t image = 0; image < s.batch; ++image) {
          const Plane in = plane_of(!args.plain_input, image, i, s.in_channels, volume(s.in)), dy = dy_plane(args, image, o);
          sum += tap_sum(s, args.input + in.start, in.step, args.dy + dy.start, dy.step, ky, kx);
        }
        args.dw[(item * s.kernel.height + ky) * s.kernel.width + kx] = static_cast<float>(sum);
      }
    if (args.bias && item % inputs == 0) args.sums[o] = static_cast<float>(bias_sum(args, o));
  }
}

int64_t weight_finish_items(const ConvWeightGradArgs& args) { return args.bias ? args.shape.out_channels : 0; }

void weight_finish_range(const ConvWeightGradArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t o = begin; o < end; ++o) args.db[o] = args.sums[o];
}

}  // namespace svengine::kernels::reference
