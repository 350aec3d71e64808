// The tiles of first layers, of all numbers of blocks but three: input channels lie side by side, so that all pixels share an address or two.
#include "engine/kernels/sve/conv/direct/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

template <int kVectors>
TileFunction find_first(int pixels, int vectors, int64_t pixel_step) {
  if constexpr (kVectors == 0)
    return nullptr;
  else if (vectors != kVectors)
    return find_first<kVectors - 1>(pixels, vectors, pixel_step);
  else if constexpr (kVectors == 3)
    return first_tile_function_of_three(pixels, pixel_step);
  else
    return find_first_tile_function<most_neighbours(kVectors), kVectors>(pixels, pixel_step);
}

}  // namespace

TileFunction first_tile_function(int pixels, int vectors, int64_t pixel_step) {
  return find_first<kMostVectors>(pixels, vectors, pixel_step);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
