// Loops over the elements of pooling windows.
#pragma once
#include "engine/kernels/pool.h"

namespace svengine::ops {

/// visit(place in the image, or -1 in the padding) for every element of window (z, y, x) that lies in the padded image.
template <class Visit>
void for_padded_window(const kernels::PoolShape& s, int64_t z, int64_t y, int64_t x, const Visit& visit) {
  for (int64_t d = 0; d < s.kernel.depth; ++d)
    for (int64_t h = 0; h < s.kernel.height; ++h)
      for (int64_t w = 0; w < s.kernel.width; ++w) {
        const int64_t at_z = z * s.stride.depth - s.pad.depth + d * s.dilation.depth;
        const int64_t at_y = y * s.stride.height - s.pad.height + h * s.dilation.height;
        const int64_t at_x = x * s.stride.width - s.pad.width + w * s.dilation.width;
        if (at_z >= s.in.depth + s.pad_end.depth || at_y >= s.in.height + s.pad_end.height ||
            at_x >= s.in.width + s.pad_end.width)
          continue;
        const bool inside = at_z >= 0 && at_z < s.in.depth && at_y >= 0 && at_y < s.in.height && at_x >= 0 && at_x < s.in.width;
        visit(inside ? (at_z * s.in.height + at_y) * s.in.width + at_x : -1);
      }
}

/// The same for those inside the image alone.
template <class Visit>
void for_window(const kernels::PoolShape& s, int64_t z, int64_t y, int64_t x, const Visit& visit) {
  for_padded_window(s, z, y, x, [&](int64_t at) {
    if (at >= 0) visit(at);
  });
}

}  // namespace svengine::ops
