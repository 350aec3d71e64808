// How Winograd's convolution is cut up, and when it pays.
#include "engine/kernels/sve/conv_plan.h"
#include "engine/kernels/sve/conv_winograd.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

/// Transformed weights up to this size are stored: they stay in an L2 cache, and cost little memory next to those of the layers
/// that have most. 128 x 128 channels.
constexpr int64_t kMostStored = int64_t{128} * 128 * kFrequencies * kFloat;

/// Cycles of a step of a product's tile: multiply-adds on two pipes, at most one every 9 cycles into the same sum (A64FX; x86 is
/// more forgiving), and two loads a cycle.
constexpr double step_cycles(int rows, int vectors) {
  const double arithmetic = rows * vectors / 2.0, loads = (rows + vectors) / 2.0;
  const double busiest = arithmetic > loads ? arithmetic : loads;
  return busiest > 9.0 ? busiest : 9.0;
}

/// Cycles a channel for all of a group's tiles and output blocks, both cut evenly.
constexpr double product_cycles(int64_t tiles, int64_t out_blocks, int most_vectors) {
  const int64_t parts = ceil_div(tiles, most_rows(most_vectors)), bundles = ceil_div(out_blocks, most_vectors);
  const int rows = int(tiles / parts), vectors = int(out_blocks / bundles);
  double cycles = 0;
  for (int i = 0; i < 4; ++i) {  // both may be one longer
    const int64_t longer_rows = tiles % parts, longer_vectors = out_blocks % bundles;
    const int64_t count = (i % 2 ? longer_rows : parts - longer_rows) * (i / 2 ? longer_vectors : bundles - longer_vectors);
    cycles += double(count) * step_cycles(rows + i % 2, vectors + i / 2);
  }
  return cycles;
}

/// How many output blocks to multiply at once.
constexpr int best_bundle(int64_t tiles, int64_t out_blocks) {
  int best = 1;
  for (int vectors = 2; vectors <= kMostBundle && vectors <= out_blocks; ++vectors)
    if (product_cycles(tiles, out_blocks, vectors) < product_cycles(tiles, out_blocks, best)) best = vectors;
  return best;
}

constexpr void cut_stored(WinogradPlan& plan) {
  plan.bundle = int(ceil_div(plan.out_blocks, ceil_div(plan.out_blocks, kMachine.conv_vectors)));
  plan.rows = most_rows(plan.bundle);
  // Inputs and sums of a group take half of the L2 cache; more tiles than 64 gain nothing.
  const int64_t tile_bytes = kFrequencies * (plan.in_blocks + plan.bundle) * kLanes * kFloat;
  plan.group_tiles = smaller(larger(kMachine.l2_bytes / 2 / tile_bytes, plan.rows), smaller(plan.tiles, 64));
  plan.groups = ceil_div(plan.tiles, plan.group_tiles);
}

constexpr void cut_few(WinogradPlan& plan) {
  plan.groups = 1;
  plan.group_tiles = plan.tiles;
  plan.bundle = 1;
  plan.rows = int(plan.tiles);
  // The weights of a chunk stay in half of the L1 cache for six rows of frequencies.
  plan.chunk = larger(kMachine.l1_bytes / 2 / (kTaps * kLanes * kFloat) / kLanes, 1) * kLanes;
}

constexpr void cut_transformed(WinogradPlan& plan) {
  // The sums of a group take at most half of the L2 cache.
  const int64_t most_tiles = larger(kMachine.l2_bytes / 2 / (kFrequencies * 3 * kLanes * kFloat), kMostSums);
  plan.groups = ceil_div(plan.tiles, smaller(most_tiles, 64));
  plan.group_tiles = ceil_div(plan.tiles, plan.groups);
  plan.bundle = best_bundle(plan.group_tiles, plan.out_blocks);
  plan.rows = most_rows(plan.bundle);
  // So does a chunk of weights.
  const int64_t most_blocks = larger(kMachine.l2_bytes / 2 / (kPairFrequencies * plan.bundle * kLanes * kLanes * kFloat), 1);
  plan.chunk = ceil_div(plan.in_blocks, ceil_div(plan.in_blocks, most_blocks)) * kLanes;
}

}  // namespace

WinogradPlan winograd_plan(const ConvShape& shape) {
  WinogradPlan plan{};
  plan.channels = shape.in_channels;
  plan.in_blocks = ceil_div(shape.in_channels, kLanes);
  plan.out_blocks = ceil_div(shape.out_channels, kLanes);
  plan.in_height = shape.in.height, plan.in_width = shape.in.width;
  plan.out_height = shape.out.height, plan.out_width = shape.out.width;
  plan.pad_height = shape.pad.height, plan.pad_width = shape.pad.width;
  plan.in_row_step = plan.in_width * kLanes;
  plan.in_block_step = plan.in_height * plan.in_row_step;
  plan.in_image_step = plan.in_blocks * plan.in_block_step;
  plan.out_row_step = plan.out_width * kLanes;
  plan.out_block_step = plan.out_height * plan.out_row_step;
  plan.out_image_step = plan.out_blocks * plan.out_block_step;
  plan.tiles_wide = ceil_div(plan.out_width, kTileOut);
  plan.image_tiles = ceil_div(plan.out_height, kTileOut) * plan.tiles_wide;
  plan.tiles = larger(shape.batch * plan.image_tiles, 1);
  plan.stored = plan.channels * plan.out_blocks * kLanes * kFrequencies * kFloat <= kMostStored;
  plan.few = !plan.stored && plan.tiles <= kMostFew;
  plan.stored ? cut_stored(plan) : plan.few ? cut_few(plan) : cut_transformed(plan);
  return plan;
}

bool winograd_pays(const ConvShape& shape) {
  const ConvExtent &k = shape.kernel, &stride = shape.stride, &dilation = shape.dilation;
  const bool possible = shape.groups == 1 && shape.in.depth == 1 && shape.out.depth == 1 && k.depth == 1 && k.height == 3 &&
                        k.width == 3 && stride.height == 1 && stride.width == 1 && dilation.height == 1 && dilation.width == 1;
  if (!possible) return false;
  const WinogradPlan plan = winograd_plan(shape);
  // Cycles at two multiply-adds of a vector each: a direct convolution reaches nine tenths of that; transforms take 150 (inputs),
  // 100 (sums) and 65 (weights), and the steps of few tiles 20 (LLVM's A64FX model).
  const double blocks = double(plan.in_blocks), outs = double(plan.out_blocks), tiles = double(plan.tiles);
  const double direct = double(plan.channels) * kTaps * outs * double(shape.batch * plan.out_height * plan.out_width) / 2 / 0.9;
  const double products = plan.few ? double(plan.channels) * outs * kTileIn * 20
                                   : kFrequencies * double(plan.channels) * double(plan.groups) *
                                         product_cycles(ceil_div(plan.tiles, plan.groups), plan.out_blocks, plan.bundle) / 0.9;
  const double transforms = tiles * (blocks * 150 + outs * 100) +
                            (plan.stored || plan.few ? 0.0 : double(plan.groups * plan.channels) * outs * 65);
  // What is written and read again goes through an L2 cache: 32 bytes a cycle.
  const double bytes = 2 * kFrequencies * kLanes * kFloat * tiles * (blocks + outs);
  return products + transforms + bytes / 32 < 0.9 * direct;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
