// How Winograd's convolution (sve/conv/winograd/winograd.h) is cut up on a machine, what that costs, and so when it pays.
//
// Plain arithmetic on shapes and a machine's numbers, so that it can be asked about a machine that is not here.
#pragma once
#include <cstdint>

#include "engine/kernels/conv.h"
#include "engine/kernels/machine/machine.h"

namespace svengine::kernels::winograd {

inline constexpr int kFrequencies = 36, kPairFrequencies = 12;  // of a tile, of a pair of rows
inline constexpr int64_t kTaps = 9;
inline constexpr int kTileOut = 4, kTileIn = 6;

/// Accumulators of a product's tile.
constexpr int most_sums(const Machine& m) { return m.conv_pixels * m.conv_vectors; }
/// Output blocks multiplied at once.
constexpr int most_block_group(const Machine& m) { return m.vector_registers == 32 ? 6 : 3; }
/// Tiles multiplied at once.
constexpr int most_rows(const Machine& m, int vectors) {
  return most_sums(m) / vectors < 12 ? most_sums(m) / vectors : 12;
}
/// Tiles in all for which weights are transformed in registers; 0: never.
constexpr int most_small_batch(const Machine& m) { return m.deep_window ? most_sums(m) / kTileIn : 0; }

struct Tiling {
  int64_t channels, in_blocks, out_blocks;  // summed over: of all planes of the kernel
  int64_t plane_blocks;                    // input blocks of a plane of the kernel
  int64_t tiles_wide, image_tiles, tiles;  // of an output plane; of the batch
  bool stored;                             // transformed weights
  bool small_batch;                                // so few tiles that weights are transformed in registers
  int block_group;                              // most output blocks multiplied at once
  int rows;                                // most tiles multiplied at once
  int64_t groups;                          // of tiles; stored: only their largest size counts
  int64_t group_tiles;                     // of a group at most
  int64_t chunk;                           // channels of a chunk of transformed weights, a multiple of the lanes
};

/// Channels of a sum: a kernel's planes are so many more, each padded to whole blocks.
constexpr int64_t summed_channels(int64_t channels, int64_t planes, int64_t lanes) {
  return planes == 1 ? channels : planes * ((channels + lanes - 1) / lanes * lanes);
}

/// Of a 3 x 3 convolution with stride 1, or of one with planes of that kind: every output plane is then an image for itself, which sees
/// the input planes that it is summed from as channels.
Tiling make_tiling(const Machine& machine, const ConvShape& shape);

/// Whether the shape is one that the algorithm is for.
bool possible(const ConvShape& shape);

/// Cycles of one core that count_cycles() expects, on operands in L1.
struct Cycles {
  double products, transforms;
  double direct;  // of the direct convolution instead
};
Cycles count_cycles(const Machine& machine, const Tiling& tiling, const ConvShape& shape);

/// Bytes that the kernel asks for, all cores together.
struct Bytes {
  double packed;     // weights, as they are stored
  double workspace;  // transformed inputs of a whole call; 0: they live in each thread's scratch memory
  double moved;      // between L1 and L2: inputs, transformed inputs, weights in both forms, sums, outputs
};
Bytes count_bytes(const Machine& machine, const Tiling& tiling, const ConvShape& shape);

/// Whether ConvKernels::choose should take it: possible, and fewer cycles by a count of arithmetic and bytes.
bool pays(const Machine& machine, const ConvShape& shape);

}  // namespace svengine::kernels::winograd
