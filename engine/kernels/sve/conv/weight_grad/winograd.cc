// Winograd's weight gradients: conv/weight_grad/winograd.h says how.
#include "engine/kernels/sve/conv/weight_grad/winograd.h"

#include "engine/kernels/sve/conv/weight_grad/panel.h"
#include "engine/kernels/sve/conv/weight_grad/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

/// Where the parts of a task's scratch memory begin.
struct Scratch {
  float *inputs, *gradients, *sums, *folded;

  Scratch(const WeightTiles& t, float* memory)
      : inputs(memory),
        gradients(inputs + kPairFrequencies * t.input_step()),
        sums(gradients + kPairFrequencies * t.gradient_step()),
        folded(sums + kPairFrequencies * t.sum_step()) {}
};

/// Input blocks [block, block + blocks) x groups [group, group + groups).
struct Region {
  int64_t block, blocks, group, groups;
};

/// U (+)= V^T M at one frequency, over `tiles` tiles. U is [group][input block][channel][vector][kLanes].
void multiply(const WeightTiles& t, const Region& region, int64_t tiles, const float* inputs, const float* gradients, float* sums,
              bool first) {
  constexpr ChannelTiles kBlock = channel_tiles(kLanes);
  for (int64_t g = 0; g < region.groups; ++g, gradients += gradient_floats(tiles)) {
    const int64_t vectors = t.vectors(region.group + g), row = vectors * kLanes;
    const WeightTileFunction shorter = weight_tile_function(int(kBlock.each), int(vectors));
    const WeightTileFunction longer = kBlock.longer ? weight_tile_function(int(kBlock.each + 1), int(vectors)) : shorter;
    const float* panel = inputs;
    for (int64_t b = 0; b < region.blocks; ++b, panel += (tiles - 1) * kLanes)
      for (int64_t i = 0; i < kBlock.tiles; ++i) {
        const int64_t channels = kBlock.each + (i < kBlock.longer);
        (i < kBlock.longer ? longer : shorter)({panel, kLanes, gradients, tiles, sums, row, first, gradients});
        panel += channels;
        sums += channels * row;
      }
  }
}

/// The frequency at which A dY A^T is the sum of a tile's dY: row 1, column 1, in the places of pair 1.
constexpr int kSumPair = 1, kSumFrequency = 2;

/// bias (+)= dy of a chunk.
void add_bias(const WeightTiles& t, const Region& region, int64_t tiles, const float* gradients, float* bias, bool first) {
  for (int64_t g = region.group; g < region.group + region.groups; ++g, gradients += gradient_floats(tiles))
    add_pixels(gradients, tiles, t.vectors(g), bias + g * kMostVectors * kLanes, first);
}

/// Tiles [begin, end) of the batch, at one pair of rows of frequencies. `bias`, if not null: their sums of dy.
void sum_pair(const ConvWeightGradArgs& args, const WeightTiles& t, const Region& region, int pair, int64_t begin, int64_t end,
              const Scratch& scratch, float* bias) {
  const int64_t chunks = ceil_div(end - begin, t.chunk);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t from = begin + chunk * (end - begin) / chunks, tiles = begin + (chunk + 1) * (end - begin) / chunks - from;
    transform_weight_inputs(args, t, pair, from, tiles, region.block, region.blocks, scratch.inputs);
    transform_weight_gradients(args, t, pair, from, tiles, region.group, region.groups, scratch.gradients);
    if (bias && pair == kSumPair)
      add_bias(t, region, tiles, scratch.gradients + kSumFrequency * t.gradient_step(), bias, chunk == 0);
    for (int f = 0; f < kPairFrequencies; ++f)
      multiply(t, region, tiles, scratch.inputs + f * t.input_step(), scratch.gradients + f * t.gradient_step(),
               scratch.sums + f * t.sum_step(), chunk == 0);
  }
}

/// To a part's sums, in the order that the direct algorithm has.
void fold_region(const ConvWeightGradArgs& args, const WeightTiles& t, const Region& region, const float* folded, float* part) {
  const int64_t in_channels = args.shape.in_channels;
  for (int64_t g = region.group; g < region.group + region.groups; ++g) {
    const int64_t vectors = t.vectors(g), first = region.block * kLanes;
    const int64_t channels = smaller(region.blocks * kLanes, in_channels - first);
    fold_rows(folded, t.sum_step(), channels, vectors, part + (g * kMostVectors * in_channels + first * vectors) * kTaps * kLanes);
    folded += region.blocks * kLanes * vectors * kLanes;
  }
}

}  // namespace

void winograd_weight_sums(const ConvWeightGradArgs& args, int64_t begin, int64_t end, float* memory) {
  const WeightTiles t = weight_tiles(args.shape);
  const Scratch scratch(t, memory);
  const int64_t part_floats = t.out_blocks * kLanes * args.shape.in_channels * kTaps;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t unit = task % t.units, band = task / t.units % t.bands, part = task / t.units / t.bands;
    const Region region{t.unit_begin(unit), t.unit_begin(unit + 1) - t.unit_begin(unit), t.band_begin(band),
                        t.band_begin(band + 1) - t.band_begin(band)};
    float* bias = args.bias && unit == 0 ? args.sums + t.parts * part_floats + part * bias_floats(args) : nullptr;
    int64_t floats = 0;
    for (int64_t g = region.group; g < region.group + region.groups; ++g) floats += region.blocks * kLanes * t.vectors(g) * kLanes;
    for (int pair = 0; pair < kTileIn / 2; ++pair) {
      sum_pair(args, t, region, pair, part * t.tiles / t.parts, (part + 1) * t.tiles / t.parts, scratch, bias);
      fold_columns(scratch.sums, floats, t.sum_step(), scratch.folded + pair * (kFolded / 3) * t.sum_step());
    }
    fold_region(args, t, region, scratch.folded, args.sums + part * part_floats);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
