#include "engine/kernels/machine/winograd.h"

#include <algorithm>

namespace svengine::kernels::winograd {

namespace {

constexpr int64_t kFloat = sizeof(float);

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Transformed weights up to this size are stored: they stay in an L2 cache, and cost little memory next to those of the
/// layers that have most. 128 x 128 channels, of a plane of the kernel.
constexpr int64_t kMostStored = int64_t{128} * 128 * kFrequencies * kFloat;

/// Transformed inputs of a kernel with depth, which are its planes times those of a flat one, may take so many bytes.
constexpr double kMostWorkspace = 64 << 20;

/// Cycles of a step of a product's tile: multiply-adds on two pipes, at most one every 9 cycles into the same sum (A64FX;
/// x86 is more forgiving), and two loads a cycle.
double step_cycles(int rows, int vectors) {
  const double arithmetic = rows * vectors / 2.0, loads = (rows + vectors) / 2.0;
  const double busiest = arithmetic > loads ? arithmetic : loads;
  return busiest > 9.0 ? busiest : 9.0;
}

/// Cycles a channel for all of a group's tiles and output blocks, both cut evenly.
double product_cycles(const Machine& m, int64_t tiles, int64_t out_blocks, int most_vectors) {
  const int64_t parts = ceil_div(tiles, most_rows(m, most_vectors)), block_groups = ceil_div(out_blocks, most_vectors);
  const int rows = int(tiles / parts), vectors = int(out_blocks / block_groups);
  double cycles = 0;
  for (int i = 0; i < 4; ++i) {  // both may be one longer
    const int64_t longer_rows = tiles % parts, longer_vectors = out_blocks % block_groups;
    const int64_t of_rows = i % 2 ? longer_rows : parts - longer_rows;
    const int64_t of_vectors = i / 2 ? longer_vectors : block_groups - longer_vectors;
    cycles += double(of_rows * of_vectors) * step_cycles(rows + i % 2, vectors + i / 2);
  }
  return cycles;
}

/// How many output blocks to multiply at once.
int best_block_group(const Machine& m, int64_t tiles, int64_t out_blocks) {
  int best = 1;
  for (int vectors = 2; vectors <= most_block_group(m) && vectors <= out_blocks; ++vectors)
    if (product_cycles(m, tiles, out_blocks, vectors) < product_cycles(m, tiles, out_blocks, best)) best = vectors;
  return best;
}

void tile_stored(const Machine& m, Tiling& tiling) {
  tiling.block_group = int(ceil_div(tiling.out_blocks, ceil_div(tiling.out_blocks, m.conv_vectors)));
  tiling.rows = most_rows(m, tiling.block_group);
  // Inputs and sums of a group take half of the L2 cache; more tiles than 64 gain nothing.
  const int64_t tile_bytes = kFrequencies * (tiling.in_blocks + tiling.block_group) * m.lanes * kFloat;
  const int64_t most_tiles = std::min<int64_t>(tiling.tiles, 64);
  tiling.group_tiles = std::min(std::max<int64_t>(m.l2_bytes / 2 / tile_bytes, tiling.rows), most_tiles);
  tiling.groups = ceil_div(tiling.tiles, tiling.group_tiles);
}

void tile_small_batch(const Machine& m, Tiling& tiling) {
  tiling.groups = 1;
  tiling.group_tiles = tiling.tiles;
  tiling.block_group = 1;
  tiling.rows = int(tiling.tiles);
  // The weights of a chunk stay in half of the L1 cache for six rows of frequencies.
  tiling.chunk = std::max<int64_t>(m.l1_bytes / 2 / (kTaps * m.lanes * kFloat) / m.lanes, 1) * m.lanes;
}

/// So few tiles that a transformed weight is used for one product or two: it pays to keep a chunk near the L1 cache, at the price of
/// more passes over inputs and sums. 256 channels at 14 x 14 on one core of a Sapphire Rapids, by bench/conv_bench: two blocks and 32
/// channels 1.34 to 1.6 ms; 16 channels 1.6, 64 1.47 to 1.6, one block and 32 channels 1.5; as cut for more tiles 1.78.
void tile_short(const Machine& m, Tiling& tiling) {
  tiling.block_group = int(std::min<int64_t>(tiling.out_blocks, 2));
  tiling.rows = most_rows(m, tiling.block_group);
  tiling.chunk = std::min<int64_t>(2, tiling.in_blocks) * m.lanes;
}

void tile_transformed(const Machine& m, Tiling& tiling) {
  // The sums of a group take at most half of the L2 cache.
  const int64_t most_tiles = std::max<int64_t>(m.l2_bytes / 2 / (kFrequencies * 3 * m.lanes * kFloat), most_sums(m));
  tiling.groups = ceil_div(tiling.tiles, std::min<int64_t>(most_tiles, 64));
  tiling.group_tiles = ceil_div(tiling.tiles, tiling.groups);
  tiling.block_group = best_block_group(m, tiling.group_tiles, tiling.out_blocks);
  tiling.rows = most_rows(m, tiling.block_group);
  // So does a chunk of weights.
  const int64_t block_bytes = kPairFrequencies * tiling.block_group * m.lanes * m.lanes * kFloat;
  const int64_t most_blocks = std::max<int64_t>(m.l2_bytes / 2 / block_bytes, 1);
  tiling.chunk = ceil_div(tiling.in_blocks, ceil_div(tiling.in_blocks, most_blocks)) * m.lanes;
  if (m.deep_window && tiling.tiles <= most_sums(m)) tile_short(m, tiling);
}

}  // namespace

Tiling make_tiling(const Machine& machine, const ConvShape& shape) {
  Tiling tiling{};
  const int64_t planes = shape.kernel.depth;
  tiling.channels = summed_channels(shape.in_channels, planes, machine.lanes);
  tiling.plane_blocks = ceil_div(shape.in_channels, machine.lanes);
  tiling.in_blocks = planes * tiling.plane_blocks;
  tiling.out_blocks = ceil_div(shape.out_channels, machine.lanes);
  tiling.tiles_wide = ceil_div(shape.out.width, kTileOut);
  tiling.image_tiles = ceil_div(shape.out.height, kTileOut) * tiling.tiles_wide;
  tiling.tiles = std::max<int64_t>(shape.batch * shape.out.depth * tiling.image_tiles, 1);
  tiling.stored = tiling.channels * tiling.out_blocks * machine.lanes * kFrequencies * kFloat <= kMostStored * planes;
  tiling.small_batch = !tiling.stored && tiling.tiles <= most_small_batch(machine);
  tiling.stored ? tile_stored(machine, tiling) : tiling.small_batch ? tile_small_batch(machine, tiling) : tile_transformed(machine, tiling);
  return tiling;
}

bool possible(const ConvShape& shape) {
  const ConvExtent &k = shape.kernel, &stride = shape.stride, &dilation = shape.dilation;
  return shape.groups == 1 && k.height == 3 && k.width == 3 && stride.height == 1 && stride.width == 1 &&
         dilation.height == 1 && dilation.width == 1;
}

Cycles count_cycles(const Machine& machine, const Tiling& tiling, const ConvShape& shape) {
  // At two multiply-adds of a vector each: a direct convolution reaches nine tenths of that; transforms take 150
  // (inputs), 100 (sums) and 65 (weights), and the steps of few tiles 20 (LLVM's A64FX model).
  const double channels = double(tiling.channels), blocks = double(tiling.in_blocks), outs = double(tiling.out_blocks);
  Cycles cycles{};
  cycles.direct = channels * kTaps * outs * double(shape.batch * shape.out.depth * shape.out.height * shape.out.width) / 2 / 0.9;
  const int64_t group_tiles = ceil_div(tiling.tiles, tiling.groups);
  cycles.products = tiling.small_batch ? channels * outs * kTileIn * 20
                            : kFrequencies * channels * double(tiling.groups) *
                                  product_cycles(machine, group_tiles, tiling.out_blocks, tiling.block_group) / 0.9;
  cycles.transforms = double(tiling.tiles) * (blocks * 150 + outs * 100) +
                      (tiling.stored || tiling.small_batch ? 0.0 : double(tiling.groups * tiling.channels) * outs * 65);
  return cycles;
}

Bytes count_bytes(const Machine& machine, const Tiling& tiling, const ConvShape& shape) {
  const double block = double(machine.lanes * kFloat), outs = double(tiling.out_blocks), groups = double(tiling.groups);
  const double frequencies = kFrequencies * double(tiling.tiles) * block;  // of all tiles and one block
  const double inputs = frequencies * double(tiling.in_blocks), sums = frequencies * outs;
  const double weights = double(tiling.channels) * outs * block;  // with one tap
  const double block_groups = double(ceil_div(tiling.out_blocks, tiling.block_group));
  const double pixels_in = double(shape.in.height * shape.in.width);
  const double pixels_out = double(shape.out.height * shape.out.width);
  Bytes bytes{};
  bytes.packed = weights * (tiling.stored ? kFrequencies : kTaps);
  bytes.workspace = tiling.stored ? 0 : inputs;
  bytes.moved = double(shape.batch * shape.out.depth) * block * (pixels_in * double(tiling.in_blocks) + pixels_out * outs);
  bytes.moved += inputs * (1 + block_groups);  // written once, read for every block group
  if (tiling.stored) {
    bytes.moved += 2 * sums + groups * bytes.packed;
  } else {  // sums are written and read for every chunk of channels
    bytes.moved += 2 * sums * double(ceil_div(tiling.channels, tiling.chunk));
    // Weights are read for every pair of rows of frequencies, and the transformed ones written and read.
    bytes.moved += groups * (tiling.small_batch ? bytes.packed : 3 * bytes.packed + 2 * weights * kFrequencies);
  }
  return bytes;
}

bool pays(const Machine& machine, const ConvShape& shape) {
  if (!possible(shape)) return false;
  const Tiling tiling = winograd::make_tiling(machine, shape);
  const Cycles cycles = count_cycles(machine, tiling, shape);
  if (shape.kernel.depth > 1 && count_bytes(machine, tiling, shape).workspace > kMostWorkspace) return false;
  // What is written and read again goes through an L2 cache: 32 bytes a cycle.
  const double block = double(machine.lanes * kFloat);
  const double bytes = 2 * kFrequencies * block * double(tiling.tiles) * double(tiling.in_blocks + tiling.out_blocks);
  return cycles.products + cycles.transforms + bytes / 32 < 0.9 * cycles.direct;
}

}  // namespace svengine::kernels::winograd
