// ConvKind::kDirect: blocked input, blocked output.
//
// With strides, many tiles of a small image lie at a border, where they take tap by tap, and outputs are few beside inputs. There
// the input is copied to the workspace first, with its borders filled in, so that no tile has one:
//
//      . 0 0 0 0 0          3 x 3, stride 2: the copy has the rows and columns that outputs read
//      0 x x x x x
//      0 x x x x x
//
// Processors that look far ahead do better without: tap by tap costs them less than the copy (Sapphire Rapids, 3 x 3, stride 2: 4
// %, bench/conv_bench).
#include "engine/kernels/sve/conv/copy.h"
#include "engine/kernels/sve/conv/kinds.h"
#include "engine/kernels/sve/conv/direct/driver.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

bool bordered(const ConvShape& shape) { return !kMachine.deep_window && shape.stride.height * shape.stride.width > 1; }

/// Rows and columns that the outputs read.
ConvExtent extent_read(const ConvShape& shape) {
  return {shape.in.depth, (shape.out.height - 1) * shape.stride.height + (shape.kernel.height - 1) * shape.dilation.height + 1,
          (shape.out.width - 1) * shape.stride.width + (shape.kernel.width - 1) * shape.dilation.width + 1};
}

Plan run_plan(ConvShape shape) {
  if (bordered(shape)) {
    shape.in = extent_read(shape);
    shape.pad = {shape.pad.depth, 0, 0};
  }
  return direct_plan(shape);
}

int64_t planes(const ConvShape& shape) {
  return bordered(shape) ? shape.batch * ceil_div(shape.in_channels, kLanes) * shape.in.depth : 0;
}

int64_t workspace_bytes(const ConvShape& shape) {
  const ConvExtent read = extent_read(shape);
  return planes(shape) * read.height * read.width * kLanes * kFloat;
}

/// A task copies a plane of an input block of an image.
void prepare(const ConvArgs& args, int64_t begin, int64_t end) {
  const ConvShape& shape = args.shape;
  const ConvExtent read = extent_read(shape);
  float* to = static_cast<float*>(args.workspace) + begin * read.height * read.width * kLanes;
  for (int64_t plane = begin; plane < end; ++plane)
    for (int64_t y = -shape.pad.height; y < read.height - shape.pad.height; ++y) {
      const float* row = args.input + (plane * shape.in.height + y) * shape.in.width * kLanes;
      to = y < 0 || y >= shape.in.height ? fill_zeros(to, read.width * kLanes)
                                         : copy_row(row, shape.in.width, shape.pad.width, read.width, kLanes, to);
    }
}

int64_t block_groups(const ConvShape& shape) { return direct_plan(shape).block_groups; }

int64_t pack_tasks(const ConvPacking& packing) { return packing.groups * packing.block_groups; }

void pack(const ConvPacking& packing, const float* weights, float* packed, int64_t begin, int64_t end) {
  for (int64_t task = begin; task < end; ++task) pack_block_group(packing, kLanes, task, weights, packed);
}

/// Of all output planes, one after the other.
int64_t tasks(const ConvShape& shape) { return shape.out.depth * sequence_tasks(run_plan(shape), shape.batch); }

int64_t scratch_bytes(const ConvShape& shape) { return border_bytes(run_plan(shape)); }

void run(const ConvArgs& args, int64_t begin, int64_t end, void* scratch) {
  const Plan plan = run_plan(args.shape);
  const float* input = bordered(args.shape) ? static_cast<const float*>(args.workspace) : args.input;
  const Borders borders = find_borders(plan, scratch);
  const int64_t in_plane = sequence_tasks(plan, args.shape.batch);
  for (int64_t task = begin; task < end;) {
    const int64_t plane = task / in_plane, first_task = task - plane * in_plane;
    const int64_t count = smaller(end - task, in_plane - first_task);
    const int64_t z = plane * args.shape.stride.depth - args.shape.pad.depth;
    const Range planes = taps_inside(args.shape.in.depth, plan.kernel_depth, args.shape.dilation.depth, z);
    for_block_groups(plan, args, input + z * plan.plane_step, first_task, first_task + count,
                     [&](BlockGroup& block_group, int64_t first, int64_t last) {
                       block_group.planes = planes;
                       block_group.output += plane * plan.out_plane_step;
                       if (block_group.residual) block_group.residual += plane * plan.out_plane_step;
                       run_tiles(plan, borders, block_group, first, last);
                     });
    task += count;
  }
}

}  // namespace

const Kind kDirectKind{block_groups, block_group_floats, pack_tasks, pack, tasks, scratch_bytes, run, workspace_bytes, planes, prepare};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
