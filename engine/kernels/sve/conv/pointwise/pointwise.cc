// ConvKind::kDirect where the kernel is 1 x 1 and nothing lies outside the image: every pixel for itself, so tiles run across
// rows.
//
// With strides, only some pixels of the input count. They are copied to the workspace first; the rest is the same.
#include "engine/kernels/sve/conv/kinds.h"
#include "engine/kernels/sve/conv/pointwise/tile.h"
#include "engine/kernels/sve/conv/direct/driver.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

bool picks(const ConvShape& shape) { return shape.stride.height * shape.stride.width > 1; }

/// The convolution of the picked pixels.
Plan pointwise_plan(ConvShape shape) {
  shape.in = shape.out;
  shape.stride = {};
  return direct_plan(shape);
}

int64_t planes(const ConvShape& shape) { return shape.batch * ceil_div(shape.in_channels, kLanes); }

int64_t workspace_bytes(const ConvShape& shape) {
  return picks(shape) ? planes(shape) * shape.out.height * shape.out.width * kLanes * kFloat : 0;
}

int64_t prepare_tasks(const ConvShape& shape) { return picks(shape) ? planes(shape) : 0; }

/// A task copies the picked pixels of an input block.
void prepare(const ConvArgs& args, int64_t begin, int64_t end) {
  const ConvShape& shape = args.shape;
  const vb all = svptrue_b32();
  float* to = static_cast<float*>(args.workspace) + begin * shape.out.height * shape.out.width * kLanes;
  for (int64_t plane = begin; plane < end; ++plane)
    for (int64_t y = 0; y < shape.out.height; ++y) {
      const float* from = args.input + (plane * shape.in.height + y * shape.stride.height) * shape.in.width * kLanes;
      for (int64_t x = 0; x < shape.out.width; ++x, from += shape.stride.width * kLanes, to += kLanes)
        svst1(all, to, svld1(all, from));
    }
}

/// Where a tile's pixels begin, in floats from the image's first.
int64_t place_of(const Plan& plan, int64_t tile) { return (tile * plan.tile_pixels + smaller(tile, plan.longer_tiles)) * kLanes; }

struct Functions {
  PointwiseFunction longer, shorter;
};

/// Tiles [begin, end) of one image see a pass. Activations that are not a clamp follow a few tiles at a time, out of L1.
void run_image(const Plan& plan, const BlockGroup& block_group, const Functions& functions, int64_t image, int64_t begin, int64_t end,
               PointwiseTiles& tiles) {
  const bool activates = tiles.last && activates_later(block_group.activation);
  constexpr int64_t kActivatedTiles = 8;
  while (begin < end) {
    const bool longer = begin < plan.longer_tiles;
    const int pixels = int(plan.tile_pixels) + longer;
    int64_t until = longer ? smaller(end, plan.longer_tiles) : end;
    if (activates) until = smaller(until, begin + kActivatedTiles);
    const int64_t at = place_of(plan, begin), out = image * plan.out_image_step + at;
    tiles.input += at;
    tiles.output = block_group.output + out;
    tiles.residual = block_group.residual ? block_group.residual + out : nullptr;
    tiles.tiles = until - begin;
    (longer ? functions.longer : functions.shorter)(tiles);
    tiles.input -= at;
    if (activates)
      for (int v = 0; v < block_group.vectors; ++v)
        activate(block_group.activation, tiles.output + v * plan.out_block_step, tiles.tiles * pixels * kLanes);
    begin = until;
  }
}

/// Tiles [begin, end) of a block group, counted through the images, see a pass; its weights end at `next`, where the next pass's
/// begin.
void run_pass(const Plan& plan, const BlockGroup& block_group, const Functions& functions, int64_t begin, int64_t end, const float* next,
              PointwiseTiles& tiles) {
  const int64_t floats = next - tiles.weights;
  tiles.prefetch_at = next;
  tiles.prefetch_end = next + floats;
  tiles.prefetch_lines = ceil_div(ceil_div(floats, kLineFloats), (end - begin) * prefetch_intervals(tiles.steps));
  const float* input = tiles.input;
  int64_t image = begin < plan.tiles ? 0 : begin / plan.tiles;  // a division is worth avoiding for small images
  for (int64_t tile = begin; tile < end; ++image) {
    const int64_t in_image = tile - image * plan.tiles;
    const int64_t count = smaller(plan.tiles - in_image, end - tile);
    tiles.input = input + image * plan.image_step;
    run_image(plan, block_group, functions, image, in_image, in_image + count, tiles);
    tile += count;
  }
}

/// Tiles [begin, end) of a block group, pass after pass; partial sums wait in the output.
void run_block_group(const Plan& plan, const BlockGroup& block_group, int64_t begin, int64_t end) {
  const int pixels = int(plan.tile_pixels);
  const Functions functions{plan.longer_tiles ? pointwise_function(pixels + 1, block_group.vectors) : nullptr,
                            pointwise_function(pixels, block_group.vectors)};
  PointwiseTiles tiles{};
  tiles.bias = block_group.bias;
  tiles.clamp = clamp_of(block_group.activation);
  tiles.beyond = plan.block_step - kLanes;
  tiles.out_block_step = plan.out_block_step;
  for (int64_t block = begin; block < end; block += plan.block_tiles) {
    const int64_t block_end = smaller(block + plan.block_tiles, end);
    for (int64_t unit = 0; unit < plan.units; unit += plan.pass_units) {
      const int64_t units_end = smaller(unit + plan.pass_units, plan.units);
      const int64_t depth = unit * kLanes, depth_end = smaller(units_end * kLanes, plan.depth);
      tiles.input = block_group.input + unit * plan.block_step;
      tiles.weights = block_group.weights + depth * block_group.vectors * kLanes;
      tiles.steps = depth_end - depth;
      tiles.first = unit == 0;
      tiles.last = units_end == plan.units;
      run_pass(plan, block_group, functions, block, block_end, block_group.weights + depth_end * block_group.vectors * kLanes, tiles);
    }
  }
}

int64_t tasks(const ConvShape& shape) { return sequence_tasks(pointwise_plan(shape), shape.batch); }

int64_t scratch_bytes(const ConvShape&) { return 0; }

void run(const ConvArgs& args, int64_t begin, int64_t end, void*) {
  const Plan plan = pointwise_plan(args.shape);
  const float* input = picks(args.shape) ? static_cast<const float*>(args.workspace) : args.input;
  for_block_groups(plan, args, input, begin, end,
              [&](const BlockGroup& block_group, int64_t first, int64_t last) { run_block_group(plan, block_group, first, last); });
}

}  // namespace

bool is_pointwise(const ConvShape& shape) {
  const ConvExtent &in = shape.in, &out = shape.out, &stride = shape.stride;
  const bool all_inside = shape.pad.height == 0 && shape.pad.width == 0 && (out.height - 1) * stride.height < in.height &&
                          (out.width - 1) * stride.width < in.width;
  const bool whole = picks(shape) || (in.height == out.height && in.width == out.width);
  return is_flat(shape) && shape.kernel.height == 1 && shape.kernel.width == 1 && all_inside && whole;
}

const Kind kPointwiseKind{nullptr, nullptr, nullptr, nullptr, tasks, scratch_bytes, run, workspace_bytes, prepare_tasks, prepare};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
