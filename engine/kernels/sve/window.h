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
  if (step == 1) {  // as below, without divisions
    const int64_t first = smaller(larger(-shift, 0), count);
    return {first, larger(first, smaller(in - shift, count))};
  }
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

/// Whether column j of a tile's input is missing: kPixels windows of kWidth, kStride apart, of whose columns only `exist` do. Fewer
/// than a window's may be missing on either side, so that only the outermost ask.
template <int kPixels, int kWidth, int kStride>
constexpr bool is_missing(int j, Range exist) {
  constexpr int kColumns = (kPixels - 1) * kStride + kWidth;
  return (j < kWidth - 1 && j < exist.begin) || (j > kColumns - kWidth && j >= exist.end);
}

/// The outputs for which every tap exists.
constexpr Range inner_outputs(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
  const Range first = outputs_inside(in, out, stride, -pad);
  const Range last = outputs_inside(in, out, stride, (kernel - 1) * dilation - pad);
  const int64_t begin = larger(first.begin, last.begin);
  return {begin, larger(begin, smaller(first.end, last.end))};
}

/// Rows of a strip: their windows overlap, so they are best computed one after the other.
inline constexpr int64_t kStripRows = 8;

/// Which row of a blocked image a task is: images, then strips of rows, then blocks, then rows of the strip. Neighbouring tasks are
/// neighbouring pixels, as in a direct convolution (conv/direct/plan.h), so that a thread finds in its own cache what it wrote in the layer
/// before.
struct BlockRows {
  int64_t image, block, row;

  /// Row `task`, which exists, of images with so many blocks and rows.
  constexpr BlockRows(int64_t task, int64_t blocks_, int64_t rows_) : blocks(blocks_), rows(rows_) {
    const int64_t in_image = task % (blocks * rows);
    image = task / (blocks * rows);
    first = in_image / (blocks * kStripRows) * kStripRows;
    const int64_t in_strip = in_image - first * blocks;
    block = in_strip / strip_rows();
    row = first + in_strip % strip_rows();
  }

  /// Goes on to the next task's, without a division.
  constexpr void next() {
    if (++row < first + strip_rows()) return;
    row = first;
    if (++block < blocks) return;
    block = 0;
    row = first = first + strip_rows();
    if (first < rows) return;
    row = first = 0;
    ++image;
  }

 private:
  int64_t blocks, rows, first;  // row of the strip
  constexpr int64_t strip_rows() const { return smaller(kStripRows, rows - first); }
};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::window
