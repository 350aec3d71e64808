#include "engine/kernels/sve/conv/weight_grad/panel.h"

#include "engine/kernels/sve/conv/copy.h"
#include "engine/kernels/sve/math/base.h"
#include "engine/kernels/sve/pixel_sums.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

/// Calls row(image, y, first column, end) for the ranges of rows of a chunk.
template <class Row>
SVENGINE_INLINE void for_rows(const PixelChunk& chunk, int64_t width, const Row& row) {
  for (int64_t image = chunk.image; image < chunk.image + chunk.images; ++image) {
    for (int64_t at = chunk.begin; at < chunk.end;) {
      const int64_t y = at / width, x = at - y * width;
      const int64_t end = smaller(width, x + chunk.end - at);
      row(image, y, x, end);
      at += end - x;
    }
  }
}

/// `count` vectors, `step` floats apart.
SVENGINE_INLINE float* copy_vectors(const float* from, int64_t step, int64_t count, float* to) {
  const vb all = svptrue_b32();
  int64_t i = 0;
  for (; i + 4 <= count; i += 4, from += 4 * step, to += 4 * kLanes)
    SVENGINE_UNROLL
    for (int u = 0; u < 4; ++u) svst1(all, to + u * kLanes, svld1(all, from + u * step));
  for (; i < count; ++i, from += step, to += kLanes) svst1(all, to, svld1(all, from));
  return to;
}

template <int kVectors>
float* copy_blocks(const float* from, int64_t block_step, int64_t pixel_step, int64_t pixels, float* to) {
  const vb all = svptrue_b32();
  for (int64_t i = 0; i < pixels; ++i, from += pixel_step, to += kVectors * kLanes)
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) svst1(all, to + v * kLanes, svld1(all, from + v * block_step));
  return to;
}

/// `pixels` pixels, pixel_step floats apart, of `vectors` blocks, block_step floats apart. The end of what is written.
template <int kVectors = kMostVectors>
float* copy_blocks(int64_t vectors, const float* from, int64_t block_step, int64_t pixel_step, int64_t pixels, float* to) {
  if constexpr (kVectors == 0) {
    return to;
  } else {
    if (vectors == kVectors) return copy_blocks<kVectors>(from, block_step, pixel_step, pixels, to);
    return copy_blocks<kVectors - 1>(vectors, from, block_step, pixel_step, pixels, to);
  }
}

/// The `width` inputs from column `at` on, of which those outside the row are zero. Nothing else is read or written.
SVENGINE_INLINE void copy_window(const float* row, int64_t row_width, int64_t at, int64_t width, float* to) {
  for (int64_t i = 0; i < width; i += kLanes) {
    const vb some = svwhilelt_b32(i, width);
    const vb inside = svbic_z(some, svwhilelt_b32(at + i, row_width), svwhilelt_b32(at + i, int64_t{0}));
    svst1(some, to + i, svld1(inside, row + at + i));
  }
}

/// The windows of columns [x, end) of a row of the output, `pitch` floats apart. `inner`: the columns whose windows lie inside.
void copy_windows(const ConvShape& s, const float* row, int64_t row_width, Range inner, int64_t x, int64_t end, int64_t pitch,
                  float* to) {
  const int64_t step = s.stride.width, width = s.kernel.width;
  if (width > kLanes || row_width == 0) inner = {end, end};
  const int64_t first = smaller(larger(x, inner.begin), end), last = larger(smaller(end, inner.end), first);
  const auto border = [&](int64_t from, int64_t until) {
    for (; from < until; ++from, to += pitch) copy_window(row, row_width, from * step - s.pad.width, width, to);
  };
  border(x, first);
  const vb some = svwhilelt_b32(int64_t{0}, width);
  const float* from = row + first * step - s.pad.width;
  for (int64_t i = first; i < last; ++i, from += step, to += pitch) svst1(some, to, svld1(some, from));
  border(last, end);
}

}  // namespace

void copy_gradient(const ConvWeightGradArgs& args, const WeightPlan& plan, const PixelChunk& chunk, int64_t block, int64_t vectors,
                   float* to) {
  const ConvShape& s = args.shape;
  const bool strided = plan.exchanged && s.stride.height * s.stride.width > 1;
  const int64_t pixels = strided ? s.in.height * s.in.width : plan.pixels, step = pixels * kLanes;
  if (!strided) {
    for (int64_t image = chunk.image; image < chunk.image + chunk.images; ++image)
      to = copy_blocks(vectors, args.dy + (image * plan.out_blocks + block) * step + chunk.begin * kLanes, step, kLanes,
                       chunk.end - chunk.begin, to);
    return;
  }
  for_rows(chunk, s.out.width, [&](int64_t image, int64_t y, int64_t x, int64_t end) SVENGINE_INLINE_LAMBDA {
    const int64_t first = y * s.stride.height * s.in.width + x * s.stride.width;
    to = copy_blocks(vectors, args.dy + (image * plan.out_blocks + block) * step + first * kLanes, step, s.stride.width * kLanes, end - x,
                     to);
  });
}

void copy_tap(const ConvWeightGradArgs& args, const WeightPlan& plan, const PixelChunk& chunk, int64_t unit, int64_t ky, int64_t kx,
              float* to) {
  const ConvShape& s = args.shape;
  if (plan.exchanged) {  // dy of several images
    const int64_t floats = plan.pixels * kLanes;
    for (int64_t image = chunk.image; image < chunk.image + chunk.images; ++image)
      to = copy_vectors(args.input + (image * plan.units + unit) * floats, kLanes, plan.pixels, to);
    return;
  }
  const int64_t row_floats = s.in.width * kLanes;
  const int64_t down = ky * s.dilation.height - s.pad.height, across = kx * s.dilation.width - s.pad.width;
  const Range rows = outputs_inside(s.in.height, s.out.height, s.stride.height, down);
  const Range columns = outputs_inside(s.in.width, s.out.width, s.stride.width, across);
  for_rows(chunk, s.out.width, [&](int64_t image, int64_t y, int64_t x, int64_t end) SVENGINE_INLINE_LAMBDA {
    if (y < rows.begin || y >= rows.end) {
      to = fill_zeros(to, (end - x) * kLanes);
      return;
    }
    const int64_t first = smaller(larger(x, columns.begin), end), last = larger(smaller(end, columns.end), first);
    const float* row = args.input + ((image * plan.units + unit) * s.in.height + y * s.stride.height + down) * row_floats;
    to = fill_zeros(to, (first - x) * kLanes);
    to = copy_vectors(row + (first * s.stride.width + across) * kLanes, s.stride.width * kLanes, last - first, to);
    to = fill_zeros(to, (end - last) * kLanes);
  });
}

void add_pixels(const float* from, int64_t pixels, int64_t vectors, float* sums, bool first) {
  const vb all = svptrue_b32();
  for (int64_t v = 0; v < vectors; ++v, sums += kLanes) {
    vf sum[1];
    pixel_sums<1>(pixels, sum, [&](int64_t i, vf(&value)[1]) SVENGINE_INLINE_LAMBDA {
      value[0] = svld1(all, from + (i * vectors + v) * kLanes);
    });
    svst1(all, sums, first ? sum[0] : vf(svadd_x(all, svld1(all, sums), sum[0])));
  }
}

void copy_plain_taps(const ConvWeightGradArgs& args, const WeightPlan& plan, const PixelChunk& chunk, float* to) {
  const ConvShape& s = args.shape;
  const int64_t plane = s.in.height * s.in.width;
  const Range inner = inner_outputs(s.in.width, s.out.width, s.kernel.width, s.stride.width, 1, s.pad.width);
  for_rows(chunk, s.out.width, [&](int64_t image, int64_t y, int64_t x, int64_t end) SVENGINE_INLINE_LAMBDA {
    for (int64_t i = 0; i < s.in_channels; ++i)
      for (int64_t ky = 0; ky < s.kernel.height; ++ky) {
        const int64_t in_y = y * s.stride.height + ky * s.dilation.height - s.pad.height;
        const bool outside = in_y < 0 || in_y >= s.in.height;
        const float* row = args.input + (image * s.in_channels + i) * plane + (outside ? 0 : in_y) * s.in.width;
        copy_windows(s, row, outside ? 0 : s.in.width, inner, x, end, plan.columns, to + (i * s.kernel.height + ky) * s.kernel.width);
      }
    to += (end - x) * plan.columns;
  });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
