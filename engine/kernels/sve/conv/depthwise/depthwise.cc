// ConvKind::kDepthwise: one input channel for each output channel.
//
//      output row   | border | tiles of inner pixels ... | border |    border pixels skip the kernel columns that lie outside,
//                                                                       rows the kernel rows
//
// Borders are part of the tiles where these may miss as many columns, as they may for the usual widths.
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

struct Rows {
  const ConvArgs& args;
  LaneWalk walk;
  const LaneFunctions& inner_functions;
  Range inner;
};

Rows rows_of(const ConvArgs& args) {
  const ConvShape& shape = args.shape;
  const Range columns{shape.pad.width, shape.pad.width + shape.in.width};
  const LaneWalk walk = lane_walk(shape, shape.in.width * kLanes, columns, args.activation);
  const LaneFunctions& functions = lane_functions(shape.kernel.width, shape.stride.width, shape.dilation.width);
  const int64_t width = (shape.out.width - 1) * shape.stride.width + (shape.kernel.width - 1) * shape.dilation.width + 1;
  if (columns.begin <= functions.edge && width - columns.end <= functions.edge)
    return {args, walk, functions, {0, shape.out.width}};
  return {args, walk, general_lane_functions(),
          inner_outputs(shape.in.width, shape.out.width, shape.kernel.width, shape.stride.width, shape.dilation.width,
                        shape.pad.width)};
}

/// One output row; `tile` describes its pixel 0, and moves on.
void run_row(const Rows& rows, LaneTile& tile) {
  const ConvShape& shape = rows.args.shape;
  if (rows.inner.size() == shape.out.width)  // a copy of what was just written would wait for it to reach the cache
    return run_lane_row(rows.inner_functions, rows.walk, tile, 0, shape.out.width);
  const auto at = [&](int64_t x) {
    LaneTile moved = tile;
    moved.input += x * rows.walk.pixel_step;
    moved.output += x * kLanes;
    if (moved.residual) moved.residual += x * kLanes;
    return moved;
  };
  const auto border = [&](int64_t begin, int64_t end) {
    for (int64_t x = begin; x < end; ++x) {
      LaneTile pixel = at(x);
      pixel.columns = taps_inside(shape.in.width, shape.kernel.width, shape.dilation.width,
                                  x * shape.stride.width - shape.pad.width);
      general_lane_functions().at[0](rows.walk, pixel);
    }
  };
  border(0, rows.inner.begin);
  LaneTile inner = at(rows.inner.begin);
  run_lane_row(rows.inner_functions, rows.walk, inner, rows.inner.begin, rows.inner.end);
  border(rows.inner.end, shape.out.width);
}

void run(const ConvArgs& args, int64_t begin, int64_t end, void*) {
  const ConvShape& shape = args.shape;
  const int64_t blocks = ceil_div(shape.out_channels, kLanes);
  if (begin >= end) return;
  const Rows rows = rows_of(args);
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
    run_row(rows, tile);
    if (activates_later(args.activation)) activate(args.activation, output, row_floats);
  }
}

}  // namespace

const Kind kDepthwiseKind{one_block_group, packed_floats, pack_tasks, pack, tasks, scratch_bytes, run};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
