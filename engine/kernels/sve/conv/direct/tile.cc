// The tiles of every size, compiled once.
#include "engine/kernels/sve/conv/direct/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

template <int kPixels, int kVectors>
TileFunctions functions(int64_t pixel_step) {
  TileFunctions found{nullptr, &run_inner_tile<kPixels, kVectors, 0>, &run_border_tile<kPixels, kVectors>};
  found.row = pixel_step == kPixelSteps[0]   ? &run_inner_tile<kPixels, kVectors, kPixelSteps[0]>
              : pixel_step == kPixelSteps[1] ? &run_inner_tile<kPixels, kVectors, kPixelSteps[1]>
              : pixel_step == kPixelSteps[2] ? &run_inner_tile<kPixels, kVectors, kPixelSteps[2]>
                                             : found.inner;
  return found;
}

template <int kPixels, int kVectors>
TileFunctions find(int pixels, int64_t pixel_step) {
  if constexpr (kPixels == 0)
    return {};
  else
    return pixels == kPixels ? functions<kPixels, kVectors>(pixel_step) : find<kPixels - 1, kVectors>(pixels, pixel_step);
}

template <int kVectors>
TileFunctions find_vectors(int pixels, int vectors, int64_t pixel_step) {
  if constexpr (kVectors == 0)
    return {};
  else
    return vectors == kVectors ? find<most_pixels(kVectors), kVectors>(pixels, pixel_step)
                               : find_vectors<kVectors - 1>(pixels, vectors, pixel_step);
}

}  // namespace

TileFunctions tile_functions(int pixels, int vectors, int64_t pixel_step) {
  return find_vectors<kMostVectors>(pixels, vectors, pixel_step);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
