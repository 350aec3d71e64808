// ConvKind::kGrouped: groups whose channels are not whole blocks.
//
// A block of output channels belongs to several groups, each reading its own input channels. For step k (the k-th channel of
// every group) the input lanes are brought to the output lanes that need them, into one *plane* of scratch memory with padded
// borders; then every plane takes part lane by lane:
//
//      output lanes          0 1 2 3 | 4 5 6 7 | ...       (4 channels a group)
//      plane 0: input lane   0 0 0 0 | 4 4 4 4 | ...
//      plane 1: input lane   1 1 1 1 | 5 5 5 5 | ...
//
// A plane may take lanes from several input blocks. Planes are made for a strip of output rows, as many at a time as fit a
// third of the L2 cache; partial sums wait in the output.
#include "engine/kernels/sve/conv/kinds.h"
#include "engine/kernels/sve/conv/depthwise/per_channel.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

struct GroupedPlan {
  int64_t channels, outs;             // of a group
  int64_t in_blocks, out_blocks;      // of an image
  int64_t strip_rows, strips;         // output rows of a task, tasks of an output block
  int64_t rows, width, plane_floats;  // of a scratch plane
  int64_t pass_planes;
};

constexpr GroupedPlan grouped_plan(const ConvShape& shape) {
  GroupedPlan plan{};
  plan.channels = shape.in_channels / shape.groups;
  plan.outs = shape.out_channels / shape.groups;
  plan.in_blocks = ceil_div(shape.in_channels, kLanes);
  plan.out_blocks = ceil_div(shape.out_channels, kLanes);
  plan.strip_rows = larger(smaller(shape.out.height, 8), 1);
  plan.strips = ceil_div(shape.out.height, plan.strip_rows);
  plan.rows = (plan.strip_rows - 1) * shape.stride.height + (shape.kernel.height - 1) * shape.dilation.height + 1;
  plan.width = (shape.out.width - 1) * shape.stride.width + (shape.kernel.width - 1) * shape.dilation.width + 1;
  plan.plane_floats = plan.rows * plan.width * kLanes;
  plan.pass_planes = larger(smaller(kMachine.l2_bytes / 3 / larger(plan.plane_floats * kFloat, 1), plan.channels), 1);
  return plan;
}

int64_t pack_tasks(const ConvPacking& packing) { return ceil_div(packing.groups * packing.out_channels, kLanes); }

int64_t packed_floats(const ConvPacking& packing) { return pack_tasks(packing) * packing.in_channels * packing.taps * kLanes; }

/// [output block][k][ky][kx][kLanes]
void pack(const ConvPacking& packing, const float* weights, float* packed, int64_t begin, int64_t end) {
  const int64_t steps = packing.in_channels * packing.taps, channels = packing.groups * packing.out_channels;
  for (int64_t block = begin; block < end; ++block)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const int64_t channel = block * kLanes + lane;
      for (int64_t step = 0; step < steps; ++step)
        packed[(block * steps + step) * kLanes + lane] = channel < channels ? weights[channel * steps + step] : 0.0f;
    }
}

int64_t tasks(const ConvShape& shape) {
  const GroupedPlan plan = grouped_plan(shape);
  return shape.batch * plan.out_blocks * plan.strips;
}

int64_t scratch_bytes(const ConvShape& shape) {
  const GroupedPlan plan = grouped_plan(shape);
  return plan.pass_planes * plan.plane_floats * kFloat;
}

void zero_pixels(float* to, int64_t pixels) {
  for (int64_t i = 0; i < pixels; ++i) svst1(svptrue_b32(), to + i * kLanes, svdup_f32(0.0f));
}

/// Where the lanes of plane `k` come from: input block `first_block + i` supplies the lanes with index[i][lane] < kLanes.
struct LaneSource {
  int64_t first_block, blocks;
  uint32_t channel[kLanes];  // relative to first_block; out of range for lanes that do not exist
};

LaneSource lane_source(const ConvShape& shape, const GroupedPlan& plan, int64_t out_block, int64_t k) {
  LaneSource source{};
  const int64_t first_out = out_block * kLanes;
  const int64_t lanes = smaller(kLanes, shape.out_channels - first_out);
  const auto channel = [&](int64_t lane) { return (first_out + lane) / plan.outs * plan.channels + k; };
  source.first_block = channel(0) / kLanes;
  source.blocks = channel(lanes - 1) / kLanes - source.first_block + 1;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    source.channel[lane] = lane < lanes ? uint32_t(channel(lane) - source.first_block * kLanes) : ~0u;
  return source;
}

/// One row of a plane. TBL gives 0 for an index out of range, so the blocks' shares add up to the row. Not inlined: among the loops
/// around it, GCC leaves the index in memory.
[[gnu::noinline]] void make_row(const LaneSource& source, const float* from, int64_t block_step, int64_t pixels, float* to) {
  const vb all = svptrue_b32();
  for (int64_t i = 0; i < source.blocks; ++i, from += block_step) {
    const vu index = svsub_x(all, svld1(all, source.channel), svdup_u32(uint32_t(i * kLanes)));
    for (int64_t x = 0; x < pixels; ++x) {
      vf lanes = svtbl(svld1(all, from + x * kLanes), index);
      if (i > 0) lanes = svadd_x(all, svld1(all, to + x * kLanes), lanes);
      svst1(all, to + x * kLanes, lanes);
    }
  }
}

/// The plane that output rows [begin, end) of an image read, with zeros where the image ends.
void make_plane(const ConvShape& shape, const GroupedPlan& plan, const LaneSource& source, const float* image, int64_t begin,
                int64_t end, float* plane) {
  const int64_t top = begin * shape.stride.height - shape.pad.height;
  const int64_t rows = (end - 1 - begin) * shape.stride.height + (shape.kernel.height - 1) * shape.dilation.height + 1;
  const int64_t left = smaller(larger(shape.pad.width, 0), plan.width);
  const int64_t skipped = left - shape.pad.width;  // columns before the first one used: more than 0 if padding is negative
  const int64_t copied = larger(smaller(plan.width - left, shape.in.width - skipped), 0);
  const int64_t block_step = shape.in.height * shape.in.width * kLanes;
  for (int64_t r = 0; r < rows; ++r) {
    float* to = plane + r * plan.width * kLanes;
    const int64_t y = top + r;
    if (y < 0 || y >= shape.in.height || copied == 0) {
      zero_pixels(to, plan.width);
      continue;
    }
    const float* from = image + source.first_block * block_step + (y * shape.in.width + skipped) * kLanes;
    zero_pixels(to, left);
    make_row(source, from, block_step, copied, to + left * kLanes);
    zero_pixels(to + (left + copied) * kLanes, plan.width - left - copied);
  }
}

/// Output rows [begin, end) of one block; `tile` describes the first pixel.
void run_strip(const ConvArgs& args, const GroupedPlan& plan, int64_t out_block, const float* image, int64_t begin, int64_t end,
               LaneTile tile, float* scratch) {
  const ConvShape& shape = args.shape;
  const LaneFunctions& functions = lane_functions(shape.kernel.width, shape.stride.width, shape.dilation.width, 0);
  LaneWalk walk = lane_walk(shape, plan.width * kLanes, {0, plan.width}, args.activation);
  walk.plane_step = plan.plane_floats;
  const float* weights = tile.weights;
  for (int64_t k = 0; k < plan.channels; k += walk.planes) {
    walk.planes = smaller(plan.pass_planes, plan.channels - k);
    for (int64_t i = 0; i < walk.planes; ++i)
      make_plane(shape, plan, lane_source(shape, plan, out_block, k + i), image, begin, end, scratch + i * plan.plane_floats);
    tile.weights = weights + k * shape.kernel.height * shape.kernel.width * kLanes;
    tile.first = k == 0;
    tile.last = k + walk.planes == plan.channels;
    LaneTile row = tile;
    for (int64_t y = begin; y < end; ++y) {  // a row's output begins where the one before ends
      row.input = scratch + (y - begin) * shape.stride.height * plan.width * kLanes;
      run_lane_row(functions, walk, row, shape.out.width);
    }
  }
}

void run(const ConvArgs& args, int64_t begin, int64_t end, void* scratch) {
  const ConvShape& shape = args.shape;
  const GroupedPlan plan = grouped_plan(shape);
  const int64_t image_floats = plan.in_blocks * shape.in.height * shape.in.width * kLanes;
  const int64_t steps = plan.channels * shape.kernel.height * shape.kernel.width;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t row = task % plan.strips * plan.strip_rows;
    const int64_t row_end = smaller(row + plan.strip_rows, shape.out.height);
    const int64_t plane = task / plan.strips;  // of images and output blocks
    const int64_t block = plane % plan.out_blocks;
    const int64_t at = (plane * shape.out.height + row) * shape.out.width * kLanes;
    LaneTile tile{};
    tile.weights = args.weights + block * steps * kLanes;
    tile.bias = args.bias ? args.bias + block * kLanes : nullptr;
    tile.residual = args.residual ? args.residual + at : nullptr;
    tile.output = args.output + at;
    tile.rows = {0, shape.kernel.height};
    run_strip(args, plan, block, args.input + plane / plan.out_blocks * image_floats, row, row_end, tile,
              static_cast<float*>(scratch));
    if (activates_later(args.activation)) activate(args.activation, tile.output, (row_end - row) * shape.out.width * kLanes);
  }
}

}  // namespace

const Kind kGroupedKind{one_block_group, packed_floats, pack_tasks, pack, tasks, scratch_bytes, run};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
