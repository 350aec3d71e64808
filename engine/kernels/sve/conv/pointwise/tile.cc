// The tiles of every size, compiled once.
#include "engine/kernels/sve/conv/pointwise/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

template <int kPixels, int kVectors>
PointwiseFunction find(int pixels) {
  if constexpr (kPixels == 0)
    return nullptr;
  else
    return pixels == kPixels ? &run_pointwise<kPixels, kVectors> : find<kPixels - 1, kVectors>(pixels);
}

template <int kVectors>
PointwiseFunction find_vectors(int pixels, int vectors) {
  if constexpr (kVectors == 0)
    return nullptr;
  else
    return vectors == kVectors ? find<most_pointwise_pixels(kVectors), kVectors>(pixels)
                               : find_vectors<kVectors - 1>(pixels, vectors);
}

}  // namespace

PointwiseFunction pointwise_function(int pixels, int vectors) {
  return find_vectors<kMachine.pointwise_vectors>(pixels, vectors);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
