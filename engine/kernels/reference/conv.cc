#include "engine/kernels/reference/conv.h"

#include <cmath>

#include "engine/kernels/reference/activation.h"

namespace svengine::kernels {

namespace {

struct Sum {
  double value = 0, magnitude = 0;
  void add(double x) {
    value += x;
    magnitude += std::fabs(x);
  }
};

/// The products of one output: `image` and `weights` start at the group's first channel and the output channel's weights.
Sum sum_products(const ConvShape& s, const float* image, const float* weights, const ConvExtent& out) {
  Sum sum;
  const int64_t top[] = {out.depth * s.stride.depth - s.pad.depth, out.height * s.stride.height - s.pad.height,
                         out.width * s.stride.width - s.pad.width};
  for (int64_t i = 0; i < s.in_channels / s.groups; ++i)
    for (int64_t a = 0; a < s.kernel.depth; ++a)
      for (int64_t b = 0; b < s.kernel.height; ++b)
        for (int64_t c = 0; c < s.kernel.width; ++c, ++weights) {
          const int64_t z = top[0] + a * s.dilation.depth;
          const int64_t y = top[1] + b * s.dilation.height;
          const int64_t x = top[2] + c * s.dilation.width;
          if (z < 0 || z >= s.in.depth || y < 0 || y >= s.in.height || x < 0 || x >= s.in.width) continue;
          sum.add(double{image[((i * s.in.depth + z) * s.in.height + y) * s.in.width + x]} * double{*weights});
        }
  return sum;
}

}  // namespace

ReferenceConv reference_conv(const ConvShape& shape, const float* input, const float* weights, const float* bias,
                             const float* residual, const ActivationArgs& activation) {
  const int64_t channels = shape.in_channels / shape.groups;
  const int64_t outs = shape.out_channels / shape.groups;
  const int64_t in_size = shape.in.depth * shape.in.height * shape.in.width;
  const int64_t terms = channels * shape.kernel.depth * shape.kernel.height * shape.kernel.width;
  ReferenceConv result;
  for (int64_t n = 0; n < shape.batch; ++n)
    for (int64_t o = 0; o < shape.out_channels; ++o)
      for (int64_t z = 0; z < shape.out.depth; ++z)
        for (int64_t y = 0; y < shape.out.height; ++y)
          for (int64_t x = 0; x < shape.out.width; ++x) {
            const float* image = input + (n * shape.in_channels + o / outs * channels) * in_size;
            Sum sum = sum_products(shape, image, weights + o * terms, {z, y, x});
            if (bias) sum.add(bias[o]);
            if (residual) sum.add(residual[result.output.size()]);
            const double error = static_cast<double>(terms + 2) * 0x1p-24 * (1 + 0x1p-10) * sum.magnitude;
            result.output.push_back(reference_activation(sum.value, activation));
            result.error.push_back(activation_error_bound(sum.value, result.output.back(), error, activation));
          }
  return result;
}

}  // namespace svengine::kernels
