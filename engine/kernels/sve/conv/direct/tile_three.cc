// The tiles of three blocks, with compiler flags of their own (engine/CMakeLists.txt).
#include "engine/kernels/sve/conv/direct/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

/// Machines with tiles of fewer blocks have none.
template <int kVectors>
TileFunctions find(int pixels, int64_t pixel_step) {
  if constexpr (kVectors > kMostVectors)
    return {};
  else
    return find_tile_functions<most_pixels(kVectors), kVectors>(pixels, pixel_step);
}

template <int kVectors>
TileFunction find_first(int pixels, int64_t pixel_step) {
  if constexpr (kVectors > kMostVectors)
    return nullptr;
  else
    return find_first_tile_function<most_neighbours(kVectors), kVectors>(pixels, pixel_step);
}

}  // namespace

TileFunctions tile_functions_of_three(int pixels, int64_t pixel_step) { return find<3>(pixels, pixel_step); }
TileFunction first_tile_function_of_three(int pixels, int64_t pixel_step) { return find_first<3>(pixels, pixel_step); }

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
