// ConvKind::kDepthwise: one input channel for each output channel. Rows of outputs skip kernel rows that lie outside, tiles of them columns.
#include "engine/kernels/sve/conv/kinds.h"
#include "engine/kernels/sve/conv/depthwise/per_channel.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

int64_t packed_floats(const ConvPacking& packing) { return round_up(packing.groups, kLanes) * packing.taps; }

int64_t pack_tasks(const ConvPacking& packing) { return ceil_div(packing.groups, kLanes); }

/// [channel block][ky][kx][kLanes]
void pack(const ConvPacking& packing, const float* weights, float* packed, int64_t begin, int64_t end) {
  const int64_t taps = packing.taps;
  for (int64_t block = begin; block < end; ++block)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int64_t channel = block * kLanes + lane;
        packed[(block * taps + tap) * kLanes + lane] = channel < packing.groups ? weights[channel * taps + tap] : 0.0f;
      }
}

/// A task is an output row of a channel block.
int64_t tasks(const ConvShape& shape) { return shape.batch * ceil_div(shape.out_channels, kLanes) * shape.out.height; }

int64_t scratch_bytes(const ConvShape&) { return 0; }

/// Columns that a row's outputs read and the image does not have, on the side that lacks more.
int64_t missing_columns(const ConvShape& shape) {
  const int64_t read = (shape.out.width - 1) * shape.stride.width + (shape.kernel.width - 1) * shape.dilation.width + 1;
  return larger(shape.pad.width, read - shape.pad.width - shape.in.width);
}

void run(const ConvArgs& args, int64_t begin, int64_t end, void*) {
  const ConvShape& shape = args.shape;
  const int64_t blocks = ceil_div(shape.out_channels, kLanes);
  if (begin >= end) return;
  const LaneWalk walk = lane_walk(shape, shape.in.width * kLanes, {shape.pad.width, shape.pad.width + shape.in.width}, args.activation);
  const LaneFunctions& functions = lane_functions(shape.kernel.width, shape.stride.width, shape.dilation.width, missing_columns(shape));
  const int64_t row_floats = shape.out.width * kLanes;
  BlockRows at(begin, blocks, shape.out.height);
  for (int64_t task = begin; task < end; ++task, at.next()) {
    const int64_t plane = at.image * blocks + at.block, out_row = plane * shape.out.height + at.row;
    const int64_t top = at.row * shape.stride.height - shape.pad.height;
    LaneTile tile{};
    tile.input = args.input + ((plane * shape.in.height + top) * shape.in.width - shape.pad.width) * kLanes;
    tile.weights = args.weights + at.block * shape.kernel.height * shape.kernel.width * kLanes;
    tile.bias = args.bias ? args.bias + at.block * kLanes : nullptr;
    tile.residual = args.residual ? args.residual + out_row * row_floats : nullptr;
    float* output = tile.output = args.output + out_row * row_floats;
    tile.rows = taps_inside(shape.in.height, shape.kernel.height, shape.dilation.height, top);
    tile.first = tile.last = true;
    run_lane_row(functions, walk, tile, shape.out.width);
    if (activates_later(args.activation)) activate(args.activation, output, row_floats);
  }
}

}  // namespace

const Kind kDepthwiseKind{one_block_group, packed_floats, pack_tasks, pack, tasks, scratch_bytes, run};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
