// The tiles of every size, compiled once.
#include "engine/kernels/sve/conv_tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

template <int kPixels, int kVectors>
TileFunctions find(int pixels) {
  if constexpr (kPixels == 0)
    return {};
  else
    return pixels == kPixels ? TileFunctions{&run_inner_tile<kPixels, kVectors>, &run_border_tile<kPixels, kVectors>}
                             : find<kPixels - 1, kVectors>(pixels);
}

template <int kVectors>
TileFunctions find_vectors(int pixels, int vectors) {
  if constexpr (kVectors == 0)
    return {};
  else
    return vectors == kVectors ? find<most_pixels(kVectors), kVectors>(pixels) : find_vectors<kVectors - 1>(pixels, vectors);
}

}  // namespace

TileFunctions tile_functions(int pixels, int vectors) { return find_vectors<kMostVectors>(pixels, vectors); }

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
