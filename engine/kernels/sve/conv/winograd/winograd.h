// Winograd's convolution F(4x4, 3x3): 3 x 3 taps, stride 1, in a quarter of the multiplications.
//
//   Y = A^T [ (G g G^T) * (B^T d B) ] A        g: 3 x 3 weights, d: 6 x 6 inputs, Y: 4 x 4 outputs, *: element by element
//
// The products at each of the 36 *frequencies* are summed over the input channels, so that there are 36 small matrix products
//
//        V[f]            U[f]                  M[f]                    an output *tile* is 4 x 4 pixels of one channel block;
//      tiles x          channels x           tiles x                   it reads the 6 x 6 inputs around it
//      channels    x    out channels    =    out channels
//
// with the transforms B^T d B before and A^T M A after, which are additions and a few multiplications of whole vectors
// (channels lie side by side). Rows of the matrices, with the points 0, 1, -1, 2, -2 and infinity; denominators are left out of
// G, so that transforming weights takes additions only, and put into the scale of the outputs, f_i f_j / 576 with
// f = (1, 2, 4, -4):
//
//         [ 4  0 -5  0  1  0 ]         [ 1  0  0 ]
//         [ 0 -4 -4  1  1  0 ]         [ 1  1  1 ]                [ 6 -4 -4  1  1  0 ]
//   B^T = [ 0  4 -4 -1  1  0 ]     G = [ 1 -1  1 ]     A^T / f =  [ 0 -2  2  1 -1  0 ]
//         [ 0 -2 -1  2  1  0 ]         [ 1  2  4 ]                [ 0 -1 -1  1  1  0 ]
//         [ 0  2 -1 -2  1  0 ]         [ 1 -2  4 ]                [ 0  1 -1 -2  2 -6 ]
//         [ 0  4  0 -5  0  1 ]         [ 0  0  1 ]
//
// Frequencies are numbered so that rows of the transforms that share work are neighbours: see kFrequencyRows.
//
// A kernel with depth is a sum of such convolutions: its planes are so many more input channels, [plane][channel], which an output
// plane finds in the input planes around it.
//
// Two ways to work, decided by the channels alone:
//
//  - few channels: transformed weights are stored. A task is an output tile with all output channels; a thread takes its tiles
//    in *groups*, transforms their inputs, multiplies and transforms back, all in its own scratch memory.
//  - many channels: transformed weights would be four times the model's, so they are stored as they are and transformed into
//    scratch memory, a chunk at a time. A task is one output channel block of one group of tiles; a thread takes blocks by
//    block groups. The inputs are transformed beforehand, by a step of its own, into the call's workspace.
//
// With at most four tiles in all, the many weights are used so seldom that storing them costs more than the products: then a
// row of six frequencies of all tiles and one output block is summed in registers, and each weight transformed as it comes. That
// is a long chain of instructions for every channel: for processors that overlap them (512 channels at 7x7: 1.9 instead of 2.9 ms
// on Sapphire Rapids; 3.7e6 instead of 2.6e6 cycles on A64FX).
//
// Each output is summed in an order that depends on the channels alone, so it does not matter how tasks are grouped.
#pragma once
#include "engine/kernels/conv.h"
#include "engine/kernels/machine/winograd.h"
#include "engine/kernels/sve/conv/epilogue.h"
#include "engine/kernels/sve/math/base.h"
#include "engine/kernels/sve/vec.h"
#include "engine/kernels/sve/window.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

using namespace window;
using namespace winograd;

inline constexpr int kMostBlockGroup = most_block_group(kMachine);  // output blocks multiplied at once

/// Row r of the transforms is computed in place kFrequencyPlace[r]: the pairs (0, 5), (1, 2) and (3, 4) read the same inputs.
inline constexpr int kFrequencyPlace[kTileIn] = {0, 2, 3, 4, 5, 1};

/// Floats between frequencies: an odd number of 256-byte lines, so that 36 of them spread over the sets of an L1 cache.
constexpr int64_t padded_stride(int64_t floats) { return (ceil_div(floats, 64) | 1) * 64; }

/// How the work is cut up, and where everything lies.
struct WinogradPlan : Tiling {
  int64_t in_height, in_width, out_height, out_width, pad_height, pad_width;
  int64_t in_depth, out_depth, stride_depth, dilation_depth, pad_depth;
  int64_t in_row_step, in_plane_step, in_block_step, in_image_step;  // floats
  int64_t out_row_step, out_plane_step, out_block_step, out_image_step;

  constexpr int64_t group_begin(int64_t group) const { return group * tiles / groups; }
  /// The first block of a stored block group.
  constexpr int64_t block_groups() const { return ceil_div(out_blocks, block_group); }
  constexpr int64_t block_group_begin(int64_t i) const { return i * out_blocks / block_groups(); }  // as conv::block_group_begin
  /// Of a group's transformed inputs, floats between columns of frequencies, rows of them, and, for each tile, input blocks.
  constexpr int64_t input_step() const { return small_batch ? group_tiles * kLanes : padded_stride(group_tiles * in_blocks * kLanes); }
  constexpr int64_t input_row_step() const {
    return small_batch ? padded_stride(kTileIn * group_tiles * in_blocks * kLanes) : kTileIn * input_step();
  }
  constexpr int64_t input_block_step() const { return small_batch ? kTileIn * kLanes : kLanes; }
  constexpr int64_t input_floats() const { return kTileIn * input_row_step(); }
  constexpr int64_t sum_step() const { return padded_stride(group_tiles * block_group * kLanes); }
};

/// Where a tile lies: walks over the tiles of the batch, on any plan that says how an image is cut.
struct TilePlace {
  int64_t image, y, x;  // of its first output; images with depth: all their output planes count

  template <class Plan>
  TilePlace(const Plan& plan, int64_t tile) : image(tile / plan.image_tiles) {
    const int64_t in_image = tile - image * plan.image_tiles;
    const int64_t row = in_image / plan.tiles_wide;
    y = row * kTileOut;
    x = (in_image - row * plan.tiles_wide) * kTileOut;
  }

  /// True if that is another image's.
  template <class Plan>
  bool advance(const Plan& plan) {
    x += kTileOut;
    if (x < plan.out_width) return false;
    x = 0;
    y += kTileOut;
    if (y < plan.out_height) return false;
    y = 0;
    ++image;
    return true;
  }
};

/// The image and plane that TilePlace::image is.
struct PlanePlace {
  int64_t image, plane;

  PlanePlace(const WinogradPlan& plan, int64_t index) : image(index), plane(0) {
    if (plan.out_depth == 1) return;
    image = index / plan.out_depth;
    plane = index - image * plan.out_depth;
  }
};

WinogradPlan winograd_plan(const ConvShape& shape);

/// A group's tiles and how they are cut into rows of products: evenly.
struct TileGroup {
  int64_t begin, count;  // tiles of the batch
  int64_t parts;
  int64_t rows, longer;  // the first `longer` parts have rows + 1 tiles, the others `rows`
};

constexpr TileGroup tile_group(const WinogradPlan& plan, int64_t begin, int64_t end) {
  const int64_t count = end - begin, parts = ceil_div(count, plan.rows);
  return {begin, count, parts, count / parts, count % parts};
}

/// B^T d B of input block `block` of a group's tiles, to [frequency][part][block][tile of the part][kLanes], or if there are few
/// to [row of frequencies][block][column of frequencies][tile][kLanes].
void transform_inputs(const WinogradPlan& plan, const TileGroup& group, int64_t block, const float* input, float* to);

/// A^T M A of one output block of a group's tiles, with the epilogue. `sums` is [frequency][tile][vectors][kLanes], at the
/// block; `args` gives bias, residual, output, activation.
void transform_sums(const WinogradPlan& plan, const TileGroup& group, int64_t block, int vectors, const float* sums,
                    const ConvArgs& args);

/// G g G^T at the 12 frequencies of row pair `pair` of channels [0, channels) of `vectors` blocks: from
/// [block][channel][3 x 3][kLanes] with `block_step` floats between blocks, to [frequency][channel][vectors][kLanes].
void transform_weights(int pair, int64_t channels, int vectors, const float* from, int64_t block_step, float* to,
                       int64_t frequency_step);

/// sums (+)= x weights: x is [block][rows][kLanes], weights [channel][vectors][kLanes], sums [rows][vectors][kLanes]. kLanes floats a
/// channel are prefetched at `prefetch_at` where kMachine.deep_window.
using ProductFunction = void (*)(int64_t channels, const float* x, const float* weights, float* sums, bool first, const float* prefetch_at);
ProductFunction product_function(int rows, int vectors);

/// The same for a row of six frequencies in place `row`, from weights [channel][3 x 3][kLanes]: x is [block][6][tiles][kLanes],
/// sums [6][tiles][kLanes] with `sum_step` floats between frequencies. The six rows together prefetch as many weights behind these.
using SmallBatchFunction = void (*)(int64_t channels, const float* x, const float* weights, float* sums, int64_t sum_step, bool first);
inline constexpr int kMostSmallBatch = most_small_batch(kMachine);  // tiles
SmallBatchFunction small_batch_function(int row, int tiles);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
