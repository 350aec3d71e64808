// How a direct convolution is cut up. Everything here depends on shapes and the machine's numbers only.
//
//   output pixels of an image (q = y * width + x), in tiles of at most plan.pixels neighbours
//        tile 0   tile 1   tile 2 ...           a block group of 1 ... kMostVectors output channel blocks shares the loads
//      +--------+--------+--------+             of the input: a tile of a block group is pixels x vectors accumulators.
//    b | acc    |        |        |
//    u |  6 x 4 |        |        |             The sum runs over *units*: one kernel row of one input block, that is
//    n +--------+--------+--------+             kernel_width taps of `run` channels. As many units as fill most of the L1
//    d | acc    |        |        |             cache with weights make a *pass*; all tiles of a block of tiles see a pass
//    l |        |        |        |             before the next one begins, and partial sums wait in the output.
//    e +--------+--------+--------+
//
// An image with depth is computed one output plane after the other: a kernel plane is a pass, or several, over its input plane.
#pragma once
#include "engine/kernels/conv.h"
#include "engine/kernels/sve/vec.h"
#include "engine/kernels/sve/window.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

using namespace window;

inline constexpr int64_t kFloat = sizeof(float);
inline constexpr int kMostVectors = kMachine.conv_vectors;

/// Pixels of a tile: what the accumulator registers allow, and no more than there are registers for their addresses.
constexpr int most_pixels(int vectors) {
  const int by_accumulators = kMachine.conv_pixels * kMachine.conv_vectors / vectors;
  return by_accumulators < kMachine.conv_addresses ? by_accumulators : kMachine.conv_addresses;
}

/// Likewise of a tile whose pixels share addresses, being a few floats apart.
constexpr int most_neighbours(int vectors) {
  return int(smaller(kMachine.conv_pixels * kMachine.conv_vectors / vectors, 16));
}
inline constexpr int kMostPixels = int(larger(most_pixels(1), most_neighbours(1)));

/// Strips of tiles of an image: A64FX has four CMGs. Of so few tiles that beginning one counts, fewer.
inline constexpr int64_t kStrips = 4, kLeastStripTiles = 16;

/// Likewise of a 1 x 1 convolution, whose pixels share addresses.
constexpr int most_pointwise_pixels(int vectors) {
  return int(smaller(kMachine.pointwise_pixels * kMachine.pointwise_vectors / vectors, 16));
}

/// The first output block of a block group: blocks are spread evenly.
constexpr int64_t block_group_begin(int64_t block_group, int64_t out_blocks, int64_t block_groups) { return block_group * out_blocks / block_groups; }

/// The layer: blocks and block groups are those of one group.
struct Layer {
  int64_t groups, in_blocks, out_blocks, block_groups;
  int64_t in_height, in_width, out_height, out_width;
  int64_t kernel_height, kernel_width, stride_height, stride_width, dilation_height, dilation_width, pad_height, pad_width;
  int64_t kernel_depth = 1;  // planes of the kernel, each of which is a sum of its own on top of those before
};

/// The pixels of an image as tiles.
struct PixelTiling {
  int pixels;                         // of a tile at most
  int64_t lines, line_tiles;          // tiles do not cross lines; a line is a row of the output or the whole image
  int64_t tile_pixels, longer_tiles;  // of a line: its first longer_tiles tiles have tile_pixels + 1 pixels, the others tile_pixels
  int64_t tiles;                      // of an image
};

/// The sum of an output, and how it is cut into units and passes.
struct Summation {
  int64_t runs[2];            // broadcast steps of a tap in the last input block, in the others: their channels
  int64_t joined_blocks;      // the first blocks, where a kernel row inside the image is one run
  int64_t joined_runs[2];
  int64_t depth;              // broadcast steps of a kernel plane's sum
  int64_t units, pass_units;  // of a kernel plane's sum, of a pass
};

/// Distances in floats.
struct ElementSteps {
  int64_t pixel_step, row_step, block_step, image_step;  // between inputs
  int64_t kernel_row_step, kernel_column_step;           // between taps
  int64_t plane_step, out_plane_step;                    // between the planes of an image
  int64_t kernel_plane_step;                             // between the input planes of kernel planes
  int64_t out_block_step, out_image_step;                // between outputs
};

/// The order of tiles, and what a task is.
struct TileOrder {
  int64_t block_tiles, task_tiles;
  bool block_groups_outside;  // tasks run over block groups, then images and tiles; else over images, strips of tiles, block groups and tiles
  int64_t strip_tiles;        // a multiple of task_tiles
};

struct Plan : Layer, PixelTiling, Summation, ElementSteps, TileOrder {
  constexpr int64_t block_group_begin(int64_t block_group) const { return conv::block_group_begin(block_group, out_blocks, block_groups); }
  /// Broadcast steps before a unit.
  constexpr int64_t unit_depth(int64_t unit) const {
    const int64_t block = unit / kernel_height;
    const int64_t steps = runs[block + 1 < in_blocks];
    return (block * kernel_height * runs[1] + unit % kernel_height * steps) * kernel_width;
  }
  constexpr int64_t strips() const { return ceil_div(tiles, strip_tiles); }
};

enum class Lines { kRows, kAny };

/// The part that both kinds of plan share once the image and the sum are described. `most`: pixels of a tile of so many vectors.
constexpr void partition(Plan& plan, int64_t batch, Lines lines, int (*most)(int vectors) = most_pixels) {
  plan.kernel_row_step = plan.dilation_height * plan.row_step;
  plan.kernel_column_step = plan.dilation_width * plan.pixel_step;
  const bool neighbours = plan.kernel_column_step == plan.runs[1];
  for (int i = 0; i < 2; ++i) plan.joined_runs[i] = plan.kernel_width * plan.runs[i];
  plan.joined_blocks = plan.kernel_width == 1 || (neighbours && plan.runs[0] == plan.runs[1]) ? plan.in_blocks
                       : neighbours                                                        ? plan.in_blocks - 1
                                                                                           : 0;

  // Packed weights depend on this (ConvPacking::block groups), so it must not depend on the image.
  const bool one_tap = plan.kernel_height == 1 && plan.kernel_width == 1;
  plan.block_groups = ceil_div(plan.out_blocks, one_tap ? kMachine.pointwise_vectors : kMachine.conv_vectors);
  const int vectors = int(ceil_div(plan.out_blocks, plan.block_groups));
  plan.pixels = most(vectors);

  // A row is cut by itself if that leaves tiles almost full; small images are cut as one line of pixels.
  const int64_t row_tiles = larger(ceil_div(plan.out_width, plan.pixels), 1);
  const bool by_rows = lines == Lines::kRows || plan.out_width / row_tiles + 1 >= plan.pixels;
  plan.lines = by_rows ? plan.out_height : 1;
  const int64_t line = by_rows ? plan.out_width : plan.out_height * plan.out_width;
  plan.line_tiles = larger(ceil_div(line, plan.pixels), 1);
  plan.tile_pixels = line / plan.line_tiles;
  plan.longer_tiles = line % plan.line_tiles;
  plan.tiles = plan.lines * plan.line_tiles;

  const int64_t unit_bytes = plan.kernel_width * plan.runs[1] * vectors * kLanes * kFloat;
  const int64_t most_units = larger(kMachine.conv_weight_bytes / unit_bytes, 1);
  const int64_t passes = larger(ceil_div(plan.units, most_units), 1);
  plan.pass_units = larger(ceil_div(plan.units, passes), 1);

  const int64_t tile_bytes = int64_t(plan.pixels) * vectors * kLanes * kFloat;
  plan.block_tiles = larger(kMachine.l2_bytes / 4 / tile_bytes, 8);
  plan.block_groups_outside = plan.block_groups * plan.image_step < plan.depth * plan.out_blocks * kLanes;
  const int64_t all_tiles = batch * plan.groups * plan.block_groups * plan.tiles;
  plan.task_tiles = smaller(larger(all_tiles / 512, 1), 16);
  // Layers with more pixels than weights: neighbouring tasks are neighbouring pixels, so that a thread finds in its own cache what it
  // wrote in the layer before. Weights are read again for every strip.
  const bool by_pixels = !plan.block_groups_outside && plan.image_step > plan.depth * plan.out_blocks * kLanes;
  const int64_t strip = plan.block_groups_outside ? batch * plan.tiles
                          : by_pixels          ? larger(ceil_div(plan.tiles, kStrips), kLeastStripTiles)
                                               : plan.tiles;
  plan.strip_tiles = larger(round_up(strip, plan.task_tiles), 1);
}

/// The plan of a blocked convolution with one group, or whole blocks in every group: of one output plane, where images have depth. The
/// work is cut as if its input planes were the image.
constexpr Plan direct_plan(const ConvShape& shape) {
  Plan plan{};
  plan.groups = shape.groups;
  const int64_t channels = shape.in_channels / shape.groups;
  plan.in_blocks = ceil_div(channels, kLanes);
  plan.out_blocks = ceil_div(shape.out_channels / shape.groups, kLanes);
  plan.in_height = shape.in.height, plan.in_width = shape.in.width;
  plan.out_height = shape.out.height, plan.out_width = shape.out.width;
  plan.kernel_height = shape.kernel.height, plan.kernel_width = shape.kernel.width;
  plan.stride_height = shape.stride.height, plan.stride_width = shape.stride.width;
  plan.dilation_height = shape.dilation.height, plan.dilation_width = shape.dilation.width;
  plan.pad_height = shape.pad.height, plan.pad_width = shape.pad.width;
  const bool pointwise = is_flat(shape) && plan.kernel_height == 1 && plan.kernel_width == 1 && plan.stride_height == 1 &&
                         plan.stride_width == 1 && plan.pad_height == 0 && plan.pad_width == 0 &&
                         plan.in_height == plan.out_height && plan.in_width == plan.out_width;
  if (pointwise) {  // every pixel for itself: the image is one long row
    plan.in_width = plan.out_width = plan.in_height * plan.in_width;
    plan.in_height = plan.out_height = 1;
  }
  plan.runs[1] = kLanes;
  plan.runs[0] = channels - (plan.in_blocks - 1) * kLanes;
  plan.depth = channels * plan.kernel_height * plan.kernel_width;
  plan.units = plan.in_blocks * plan.kernel_height;
  plan.pixel_step = kLanes;
  plan.row_step = plan.in_width * kLanes;
  plan.block_step = plan.in_height * plan.row_step;
  plan.image_step = plan.groups * plan.in_blocks * plan.block_step;
  plan.out_block_step = plan.out_height * plan.out_width * kLanes;
  plan.out_image_step = plan.groups * plan.out_blocks * plan.out_block_step;
  partition(plan, shape.batch, Lines::kAny, pointwise ? most_pointwise_pixels : most_pixels);
  plan.kernel_depth = shape.kernel.depth;
  plan.plane_step = plan.block_step, plan.kernel_plane_step = shape.dilation.depth * plan.plane_step;
  plan.out_plane_step = plan.out_block_step;
  plan.block_step *= shape.in.depth, plan.image_step *= shape.in.depth;
  plan.out_block_step *= shape.out.depth, plan.out_image_step *= shape.out.depth;
  return plan;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
