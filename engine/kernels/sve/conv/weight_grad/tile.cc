// The tiles of every size, compiled once.
#include "engine/kernels/sve/conv/weight_grad/tile.h"

#include "engine/kernels/sve/conv/sums.h"
#include "engine/kernels/sve/tile_row.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

template <int kChannels, int kVectors>
SVENGINE_HOT void run_tile(const WeightTile& tile) {
  const vb all = svptrue_b32();
  const float *panel = tile.panel, *dy = tile.dy, *prefetch_at = tile.prefetch_at;
  const int64_t pitch = tile.pitch;
  Sums<kChannels, kVectors> sums;
  float* row = tile.sums;
  if (tile.first) {
    SVENGINE_UNROLL
    for (int i = 0; i < kChannels * kVectors; ++i) sums.at[i / kVectors][i % kVectors] = svdup_f32(0.0f);
  } else {
    SVENGINE_UNROLL
    for (int c = 0; c < kChannels; ++c, row = keep(row + tile.row_step))
      SVENGINE_UNROLL
      for (int v = 0; v < kVectors; ++v) sums.at[c][v] = svld1(all, row + v * kLanes);
  }
  for (int64_t left = tile.pixels; left > 0; --left) {
    svprfw(all, prefetch_at, SV_PLDL2KEEP);
    prefetch_at = keep(prefetch_at + kLanes);
    vf gradient[kVectors];
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) gradient[v] = svld1(all, dy + v * kLanes);
    SVENGINE_UNROLL
    for (int c = 0; c < kChannels; ++c) add_row(c, panel + c, gradient, sums.at[c]);
    dy = keep(dy + kVectors * kLanes);
    panel = keep(panel + pitch);
  }
  row = tile.sums;
  SVENGINE_UNROLL
  for (int c = 0; c < kChannels; ++c, row = keep(row + tile.row_step))
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) svst1(all, row + v * kLanes, sums.at[c][v]);
}

template <int kChannels, int kVectors>
WeightTileFunction find(int channels) {
  if constexpr (kChannels == 0)
    return nullptr;
  else
    return channels == kChannels ? &run_tile<kChannels, kVectors> : find<kChannels - 1, kVectors>(channels);
}

template <int kVectors>
WeightTileFunction find_vectors(int channels, int vectors) {
  if constexpr (kVectors == 0)
    return nullptr;
  else
    return vectors == kVectors ? find<kMachine.conv_pixels, kVectors>(channels) : find_vectors<kVectors - 1>(channels, vectors);
}

}  // namespace

WeightTileFunction weight_tile_function(int channels, int vectors) { return find_vectors<kMostVectors>(channels, vectors); }

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
