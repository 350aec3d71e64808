// Squares of kLanes x kLanes 32-bit elements transposed in registers: log2(kLanes) rounds of interleaving row i with row i + kLanes / 2
// rotate the bits of (row, lane) by one place each, until the two have changed places.
#pragma once
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

struct Square {
  vf row[kLanes];
};

inline __attribute__((always_inline)) Square transposed(Square x) {
  SVENGINE_UNROLL
  for (int width = 1; width < kLanes; width *= 2) {
    Square y;
    SVENGINE_UNROLL
    for (int i = 0; i < kLanes / 2; ++i) {
      y.row[2 * i] = svzip1(x.row[i], x.row[i + kLanes / 2]);
      y.row[2 * i + 1] = svzip2(x.row[i], x.row[i + kLanes / 2]);
    }
    x = y;
  }
  return x;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
