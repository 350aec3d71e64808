// Squares of as many rows as a vector has lanes, transposed in registers: log2 of the lanes rounds of interleaving row i with row i + lanes / 2
// rotate the bits of (row, lane) by one place each, until the two have changed places.
#pragma once
#include "engine/kernels/sve/element.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

template <class T>
struct SquareOf {
  Vec<T> row[kLanesOf<T>];
};
using Square = SquareOf<float>;

template <class T>
SVENGINE_INLINE SquareOf<T> transposed(SquareOf<T> x) {
  constexpr int kSide = kLanesOf<T>;
  SVENGINE_UNROLL
  for (int width = 1; width < kSide; width *= 2) {
    SquareOf<T> y;
    SVENGINE_UNROLL
    for (int i = 0; i < kSide / 2; ++i) {
      y.row[2 * i] = svzip1(x.row[i], x.row[i + kSide / 2]);
      y.row[2 * i + 1] = svzip2(x.row[i], x.row[i + kSide / 2]);
    }
    x = y;
  }
  return x;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
