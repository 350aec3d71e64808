// The tiles of every size but those of three blocks, compiled once.
#include "engine/kernels/sve/conv/direct/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

template <int kVectors>
TileFunctions find_vectors(int pixels, int vectors, int64_t pixel_step) {
  if constexpr (kVectors == 0)
    return {};
  else if (vectors != kVectors)
    return find_vectors<kVectors - 1>(pixels, vectors, pixel_step);
  else if constexpr (kVectors == 3)
    return tile_functions_of_three(pixels, pixel_step);
  else
    return find_tile_functions<most_pixels(kVectors), kVectors>(pixels, pixel_step);
}

}  // namespace

TileFunctions tile_functions(int pixels, int vectors, int64_t pixel_step) {
  TileFunctions found = find_vectors<kMostVectors>(pixels, vectors, pixel_step);
  if (!is_first_step(pixel_step)) return found;
  if (const TileFunction row = first_tile_function(pixels, vectors, pixel_step)) found.row = row;
  return found;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
