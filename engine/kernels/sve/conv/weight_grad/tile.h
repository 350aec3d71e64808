// The innermost part of a weight gradient: kChannels values of the input x kVectors output blocks of sums in registers.
//
//   every pixel:  gradient[0 .. kVectors) = dy of the pixel               kVectors loads
//                 for each channel:  value = broadcast panel[channel]     1 load, all from one address
//                                    sums[channel][v] += gradient[v] * value
//
// On A64FX 6 x 4 sums are 12 cycles of multiply-adds beside 10 loads and 38 instructions, of which four are decoded a cycle.
#pragma once
#include "engine/kernels/sve/conv/direct/plan.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

/// One tile of sums over one chunk of pixels. Distances are in floats.
struct WeightTile {
  const float* panel;  // the tile's first channel of the first pixel
  int64_t pitch;       // between pixels of the panel
  const float* dy;     // [pixels][kVectors][kLanes]
  int64_t pixels;      // positive
  float* sums;         // [kVectors][kLanes] of a channel
  int64_t row_step;    // between channels' sums
  bool first;          // sums start from zero
  const float* prefetch_at;  // what the next chunk reads: kLanes floats a pixel are prefetched
};

using WeightTileFunction = void (*)(const WeightTile& tile);

/// The function for tiles of that many channels (at most kMachine.conv_pixels) and output blocks (at most kMostVectors).
WeightTileFunction weight_tile_function(int channels, int vectors);

/// `count` channels as tiles of nearly the same size: `longer` of each + 1, then the rest.
struct ChannelTiles {
  int64_t tiles, each, longer;
};

constexpr ChannelTiles channel_tiles(int64_t count) {
  const int64_t tiles = ceil_div(count, kMachine.conv_pixels);
  return {tiles, count / tiles, count % tiles};
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
