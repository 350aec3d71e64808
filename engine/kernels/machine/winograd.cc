#include "engine/kernels/machine/winograd.h"

#include <algorithm>

namespace svengine::kernels::winograd {

namespace {

constexpr int64_t kFloat = sizeof(float);

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Transformed weights up to this size are stored: they stay in an L2 cache, and cost little memory next to those of the
/// layers that have most. 128 x 128 channels.
constexpr int64_t kMostStored = int64_t{128} * 128 * kFrequencies * kFloat;

/// Cycles of a step of a product's tile: multiply-adds on two pipes, at most one every 9 cycles into the same sum (A64FX;
/// x86 is more forgiving), and two loads a cycle.
double step_cycles(int rows, int vectors) {
  const double arithmetic = rows * vectors / 2.0, loads = (rows + vectors) / 2.0;
  const double busiest = arithmetic > loads ? arithmetic : loads;
  return busiest > 9.0 ? busiest : 9.0;
}

/// Cycles a channel for all of a group's tiles and output blocks, both cut evenly.
double product_cycles(const Machine& m, int64_t tiles, int64_t out_blocks, int most_vectors) {
  const int64_t parts = ceil_div(tiles, most_rows(m, most_vectors)), bundles = ceil_div(out_blocks, most_vectors);
  const int rows = int(tiles / parts), vectors = int(out_blocks / bundles);
  double cycles = 0;
  for (int i = 0; i < 4; ++i) {  // both may be one longer
    const int64_t longer_rows = tiles % parts, longer_vectors = out_blocks % bundles;
    const int64_t of_rows = i % 2 ? longer_rows : parts - longer_rows;
    const int64_t of_vectors = i / 2 ? longer_vectors : bundles - longer_vectors;
    cycles += double(of_rows * of_vectors) * step_cycles(rows + i % 2, vectors + i / 2);
  }
  return cycles;
}

/// How many output blocks to multiply at once.
int best_bundle(const Machine& m, int64_t tiles, int64_t out_blocks) {
  int best = 1;
  for (int vectors = 2; vectors <= most_bundle(m) && vectors <= out_blocks; ++vectors)
    if (product_cycles(m, tiles, out_blocks, vectors) < product_cycles(m, tiles, out_blocks, best)) best = vectors;
  return best;
}

void cut_stored(const Machine& m, Cut& cut) {
  cut.bundle = int(ceil_div(cut.out_blocks, ceil_div(cut.out_blocks, m.conv_vectors)));
  cut.rows = most_rows(m, cut.bundle);
  // Inputs and sums of a group take half of the L2 cache; more tiles than 64 gain nothing.
  const int64_t tile_bytes = kFrequencies * (cut.in_blocks + cut.bundle) * m.lanes * kFloat;
  const int64_t most_tiles = std::min<int64_t>(cut.tiles, 64);
  cut.group_tiles = std::min(std::max<int64_t>(m.l2_bytes / 2 / tile_bytes, cut.rows), most_tiles);
  cut.groups = ceil_div(cut.tiles, cut.group_tiles);
}

void cut_few(const Machine& m, Cut& cut) {
  cut.groups = 1;
  cut.group_tiles = cut.tiles;
  cut.bundle = 1;
  cut.rows = int(cut.tiles);
  // The weights of a chunk stay in half of the L1 cache for six rows of frequencies.
  cut.chunk = std::max<int64_t>(m.l1_bytes / 2 / (kTaps * m.lanes * kFloat) / m.lanes, 1) * m.lanes;
}

/// So few tiles that a transformed weight is used for one product or two: it pays to keep a chunk near the L1 cache, at the price of
/// more passes over inputs and sums. 256 channels at 14 x 14 on one core of a Sapphire Rapids, by bench/conv_bench: two blocks and 32
/// channels 1.34 to 1.6 ms; 16 channels 1.6, 64 1.47 to 1.6, one block and 32 channels 1.5; as cut for more tiles 1.78.
void cut_short(const Machine& m, Cut& cut) {
  cut.bundle = int(std::min<int64_t>(cut.out_blocks, 2));
  cut.rows = most_rows(m, cut.bundle);
  cut.chunk = std::min<int64_t>(2, cut.in_blocks) * m.lanes;
}

void cut_transformed(const Machine& m, Cut& cut) {
  // The sums of a group take at most half of the L2 cache.
  const int64_t most_tiles = std::max<int64_t>(m.l2_bytes / 2 / (kFrequencies * 3 * m.lanes * kFloat), most_sums(m));
  cut.groups = ceil_div(cut.tiles, std::min<int64_t>(most_tiles, 64));
  cut.group_tiles = ceil_div(cut.tiles, cut.groups);
  cut.bundle = best_bundle(m, cut.group_tiles, cut.out_blocks);
  cut.rows = most_rows(m, cut.bundle);
  // So does a chunk of weights.
  const int64_t block_bytes = kPairFrequencies * cut.bundle * m.lanes * m.lanes * kFloat;
  const int64_t most_blocks = std::max<int64_t>(m.l2_bytes / 2 / block_bytes, 1);
  cut.chunk = ceil_div(cut.in_blocks, ceil_div(cut.in_blocks, most_blocks)) * m.lanes;
  if (m.deep_window && cut.tiles <= most_sums(m)) cut_short(m, cut);
}

}  // namespace

Cut cut(const Machine& machine, const ConvShape& shape) {
  Cut cut{};
  cut.channels = shape.in_channels;
  cut.in_blocks = ceil_div(shape.in_channels, machine.lanes);
  cut.out_blocks = ceil_div(shape.out_channels, machine.lanes);
  cut.tiles_wide = ceil_div(shape.out.width, kTileOut);
  cut.image_tiles = ceil_div(shape.out.height, kTileOut) * cut.tiles_wide;
  cut.tiles = std::max<int64_t>(shape.batch * cut.image_tiles, 1);
  cut.stored = cut.channels * cut.out_blocks * machine.lanes * kFrequencies * kFloat <= kMostStored;
  cut.few = !cut.stored && cut.tiles <= most_few(machine);
  cut.stored ? cut_stored(machine, cut) : cut.few ? cut_few(machine, cut) : cut_transformed(machine, cut);
  return cut;
}

bool possible(const ConvShape& shape) {
  const ConvExtent &k = shape.kernel, &stride = shape.stride, &dilation = shape.dilation;
  const bool flat = shape.in.depth == 1 && shape.out.depth == 1 && k.depth == 1;
  return flat && shape.groups == 1 && k.height == 3 && k.width == 3 && stride.height == 1 && stride.width == 1 &&
         dilation.height == 1 && dilation.width == 1;
}

Cycles count_cycles(const Machine& machine, const Cut& cut, const ConvShape& shape) {
  // At two multiply-adds of a vector each: a direct convolution reaches nine tenths of that; transforms take 150
  // (inputs), 100 (sums) and 65 (weights), and the steps of few tiles 20 (LLVM's A64FX model).
  const double channels = double(cut.channels), blocks = double(cut.in_blocks), outs = double(cut.out_blocks);
  Cycles cycles{};
  cycles.direct = channels * kTaps * outs * double(shape.batch * shape.out.height * shape.out.width) / 2 / 0.9;
  const int64_t group_tiles = ceil_div(cut.tiles, cut.groups);
  cycles.products = cut.few ? channels * outs * kTileIn * 20
                            : kFrequencies * channels * double(cut.groups) *
                                  product_cycles(machine, group_tiles, cut.out_blocks, cut.bundle) / 0.9;
  cycles.transforms = double(cut.tiles) * (blocks * 150 + outs * 100) +
                      (cut.stored || cut.few ? 0.0 : double(cut.groups * cut.channels) * outs * 65);
  return cycles;
}

Bytes count_bytes(const Machine& machine, const Cut& cut, const ConvShape& shape) {
  const double block = double(machine.lanes * kFloat), outs = double(cut.out_blocks), groups = double(cut.groups);
  const double frequencies = kFrequencies * double(cut.tiles) * block;  // of all tiles and one block
  const double inputs = frequencies * double(cut.in_blocks), sums = frequencies * outs;
  const double weights = double(cut.channels) * outs * block;  // with one tap
  const double bundles = double(ceil_div(cut.out_blocks, cut.bundle));
  const double pixels_in = double(shape.in.height * shape.in.width);
  const double pixels_out = double(shape.out.height * shape.out.width);
  Bytes bytes{};
  bytes.packed = weights * (cut.stored ? kFrequencies : kTaps);
  bytes.workspace = cut.stored ? 0 : inputs;
  bytes.moved = double(shape.batch) * block * (pixels_in * double(cut.in_blocks) + pixels_out * outs);
  bytes.moved += inputs * (1 + bundles);  // written once, read for every bundle
  if (cut.stored) {
    bytes.moved += 2 * sums + groups * bytes.packed;
  } else {  // sums are written and read for every chunk of channels
    bytes.moved += 2 * sums * double(ceil_div(cut.channels, cut.chunk));
    // Weights are read for every pair of rows of frequencies, and the transformed ones written and read.
    bytes.moved += groups * (cut.few ? bytes.packed : 3 * bytes.packed + 2 * weights * kFrequencies);
  }
  return bytes;
}

bool pays(const Machine& machine, const ConvShape& shape) {
  if (!possible(shape)) return false;
  const Cut cut = winograd::cut(machine, shape);
  const Cycles cycles = count_cycles(machine, cut, shape);
  // What is written and read again goes through an L2 cache: 32 bytes a cycle.
  const double block = double(machine.lanes * kFloat);
  const double bytes = 2 * kFrequencies * block * double(cut.tiles) * double(cut.in_blocks + cut.out_blocks);
  return cycles.products + cycles.transforms + bytes / 32 < 0.9 * cycles.direct;
}

}  // namespace svengine::kernels::winograd
