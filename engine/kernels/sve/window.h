// Where sliding windows lie inside an image, axis by axis: shared by convolution and pooling.
#pragma once
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::window {

constexpr int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t larger(int64_t a, int64_t b) { return a < b ? b : a; }
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

/// Positions [begin, end) of an axis.
struct Range {
  int64_t begin, end;
  constexpr int64_t size() const { return end - begin; }
};

/// The i in [0, count) for which 0 <= i * step + shift < in.
constexpr Range steps_inside(int64_t in, int64_t count, int64_t step, int64_t shift) {
  const int64_t begin = shift >= 0 ? 0 : smaller(ceil_div(-shift, step), count);
  const int64_t end = in - shift <= 0 ? 0 : smaller(ceil_div(in - shift, step), count);
  return {begin, larger(begin, end)};
}

/// The outputs y for which input position y * stride + shift exists.
constexpr Range outputs_inside(int64_t in, int64_t out, int64_t stride, int64_t shift) {
  return steps_inside(in, out, stride, shift);
}

/// The taps k for which input position start + k * dilation exists.
constexpr Range taps_inside(int64_t in, int64_t kernel, int64_t dilation, int64_t start) {
  return steps_inside(in, kernel, dilation, start);
}

/// The outputs for which every tap exists.
constexpr Range inner_outputs(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
  const Range first = outputs_inside(in, out, stride, -pad);
  const Range last = outputs_inside(in, out, stride, (kernel - 1) * dilation - pad);
  const int64_t begin = larger(first.begin, last.begin);
  return {begin, larger(begin, smaller(first.end, last.end))};
}

/// Rows of a stretch: their windows overlap, so they are best computed one after the other.
inline constexpr int64_t kStretchRows = 8;

/// A row of a blocked image.
struct BlockRow {
  int64_t image, block, row;
};

/// Which row a task is: images, then stretches of rows, then blocks, then rows of the stretch. Neighbouring tasks are neighbouring
/// pixels, as in a direct convolution (conv_plan.h), so that a thread finds in its own cache what it wrote in the layer before.
constexpr BlockRow block_row(int64_t task, int64_t blocks, int64_t rows) {
  const int64_t image = task / (blocks * rows), in_image = task - image * blocks * rows;
  const int64_t first = in_image / (blocks * kStretchRows) * kStretchRows, in_stretch = in_image - first * blocks;
  const int64_t block = in_stretch / smaller(kStretchRows, rows - first);
  return {image, block, first + in_stretch - block * smaller(kStretchRows, rows - first)};
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::window
