// Rows of a convolution's input, copied with their borders.
#pragma once
#include "engine/kernels/sve/window.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

inline float* fill_zeros(float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) svst1(svwhilelt_b32(i, count), to + i, svdup_f32(0.0f));
  return to + count;
}

inline float* copy(const float* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const vb some = svwhilelt_b32(i, count);
    svst1(some, to + i, svld1(some, from + i));
  }
  return to + count;
}

/// `width` pixels of `floats` each, the first of which lies `pad` before the row of `in_width` pixels at `row` (behind its first
/// when negative); zeros where the row has none. Where the next row begins.
inline float* copy_row(const float* row, int64_t in_width, int64_t pad, int64_t width, int64_t floats, float* to) {
  const int64_t left = window::smaller(window::larger(pad, 0), width);
  const int64_t skipped = left - pad;  // pixels of the row before the first used: 0 or crop
  const int64_t copied = window::larger(window::smaller(width - left, in_width - skipped), 0);
  to = fill_zeros(to, left * floats);
  to = copy(row + skipped * floats, to, copied * floats);
  return fill_zeros(to, (width - left - copied) * floats);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
