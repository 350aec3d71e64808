#include "engine/kernels/reference/pool.h"

#include <cmath>
#include <limits>

namespace svengine::kernels {

namespace {

/// One window on its way.
struct Window {
  const PoolArgs& args;
  double largest = -std::numeric_limits<double>::infinity();
  int64_t index = 0;
  int64_t inside = 0, counted = 0;
  double sum = 0, magnitude = 0, powers = 0;

  void add(double x, int64_t at) {
    if (inside++ == 0 || x > largest || (std::isnan(x) && !std::isnan(largest))) {
      largest = x;
      index = at;
    }
    sum += x;
    magnitude += std::fabs(x);
    powers += std::pow(std::fabs(x), args.power);
  }

  void finish(ReferencePool& to) const {
    const double terms = static_cast<double>(inside);
    switch (args.kind) {
      case PoolKind::kMax:
        to.output.push_back(largest);
        to.error.push_back(0);
        to.indices.push_back(index);
        break;
      case PoolKind::kAverage:
        to.output.push_back(sum / static_cast<double>(counted));
        to.error.push_back((terms + 2) * 0x1p-24 * magnitude / static_cast<double>(counted));
        break;
      case PoolKind::kLp:
        to.output.push_back(std::pow(powers, 1.0 / args.power));
        to.error.push_back((terms + args.power + 16) * 0x1p-23 * to.output.back());
        break;
    }
  }
};

bool within(int64_t x, int64_t begin, int64_t end) { return x >= begin && x < end; }

void add_window(const PoolShape& s, const float* image, int64_t first_index, const Extent& out, Window& window) {
  for (int64_t a = 0; a < s.kernel.depth; ++a)
    for (int64_t b = 0; b < s.kernel.height; ++b)
      for (int64_t c = 0; c < s.kernel.width; ++c) {
        const int64_t z = out.depth * s.stride.depth - s.pad.depth + a * s.dilation.depth;
        const int64_t y = out.height * s.stride.height - s.pad.height + b * s.dilation.height;
        const int64_t x = out.width * s.stride.width - s.pad.width + c * s.dilation.width;
        const bool inside = within(z, 0, s.in.depth) && within(y, 0, s.in.height) && within(x, 0, s.in.width);
        const bool padded = z < s.in.depth + s.pad_end.depth && y < s.in.height + s.pad_end.height &&
                            x < s.in.width + s.pad_end.width;
        window.counted += window.args.count_padding ? padded : inside;
        if (!inside) continue;
        const int64_t row_major = (z * s.in.height + y) * s.in.width + x;
        const int64_t column_major = (x * s.in.height + y) * s.in.depth + z;
        window.add(image[row_major], first_index + (window.args.column_major_indices ? column_major : row_major));
      }
}

}  // namespace

ReferencePool reference_pool(const PoolArgs& args, const float* input) {
  const PoolShape& s = args.shape;
  const int64_t size = s.in.depth * s.in.height * s.in.width;
  ReferencePool result;
  for (int64_t plane = 0; plane < s.batch * s.channels; ++plane)
    for (int64_t z = 0; z < s.out.depth; ++z)
      for (int64_t y = 0; y < s.out.height; ++y)
        for (int64_t x = 0; x < s.out.width; ++x) {
          Window window{args};
          window.index = plane * size;
          add_window(s, input + plane * size, plane * size, {z, y, x}, window);
          window.finish(result);
        }
  return result;
}

ReferencePool reference_pool(const GlobalPoolArgs& args, const float* input) {
  PoolArgs one;
  one.kind = args.kind;
  one.power = args.power;
  one.shape.batch = args.batch;
  one.shape.channels = args.channels;
  one.shape.in = one.shape.kernel = {1, 1, args.size};
  return reference_pool(one, input);
}

}  // namespace svengine::kernels
