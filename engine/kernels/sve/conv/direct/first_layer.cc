// ConvKind::kFirstLayer: few plain input channels, blocked output.
//
// The input rows of a few output rows are copied to scratch memory with their padding, so that no tile has a border, and with their
// channels side by side, so that a kernel row of all channels is one run (7 x 7, stride 2: 2 rows + 5 a new output row):
//
//      scratch  [kernel plane][row][000 000 000 rgb rgb rgb rgb ... rgb 000 000 000]
//                                   |_________run_________|
//                                           |_________run_________|   pixel p starts at p * stride * channels
#include "engine/kernels/sve/conv/copy.h"
#include "engine/kernels/sve/conv/kinds.h"
#include "engine/kernels/sve/conv/direct/driver.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

struct FirstPlan {
  Plan plan;        // of one strip of output rows, reading scratch
  int64_t strip_rows;  // output rows computed from one copy
  int64_t rows, width; // of a kernel plane in scratch memory
};

constexpr FirstPlan first_plan(const ConvShape& shape) {
  FirstPlan first{};
  Plan& plan = first.plan;
  plan.groups = 1;
  plan.in_blocks = shape.kernel.depth;
  plan.out_blocks = ceil_div(shape.out_channels, kLanes);
  plan.stride_height = shape.stride.height, plan.stride_width = shape.stride.width;
  plan.dilation_height = shape.dilation.height, plan.dilation_width = shape.dilation.width;
  const int64_t reach = (shape.kernel.height - 1) * shape.dilation.height + 1;
  first.width = (shape.out.width - 1) * shape.stride.width + (shape.kernel.width - 1) * shape.dilation.width + 1;
  // Rows enough that copying the overlap again is cheap, few enough for a quarter of the L2 cache.
  const int64_t row_bytes = larger(shape.kernel.depth * shape.in_channels * first.width * shape.stride.height * kFloat, 1);
  first.strip_rows = larger(smaller(kMachine.l2_bytes / 4 / row_bytes, smaller(8, shape.out.height)), 1);
  first.rows = (first.strip_rows - 1) * shape.stride.height + reach;
  plan.out_height = first.strip_rows, plan.out_width = shape.out.width;

  plan.kernel_height = shape.kernel.height, plan.kernel_width = shape.kernel.width;
  plan.runs[0] = plan.runs[1] = shape.in_channels;
  plan.depth = shape.in_channels * shape.kernel.depth * shape.kernel.height * shape.kernel.width;
  plan.units = shape.kernel.depth * shape.kernel.height;
  plan.in_height = first.rows, plan.in_width = first.width;
  plan.pixel_step = shape.in_channels;
  plan.row_step = first.width * shape.in_channels;
  plan.block_step = first.rows * plan.row_step;
  plan.image_step = shape.kernel.depth * plan.block_step;
  plan.out_plane_step = shape.out.height * shape.out.width * kLanes;
  plan.out_block_step = shape.out.depth * plan.out_plane_step;
  plan.out_image_step = plan.out_blocks * plan.out_block_step;
  const bool neighbours = shape.dilation.width == 1 && is_first_step(shape.stride.width * shape.in_channels);
  partition(plan, shape.batch, Lines::kRows, neighbours ? most_neighbours : most_pixels);
  return first;
}

int64_t block_groups(const ConvShape& shape) { return first_plan(shape).plan.block_groups; }

int64_t pack_tasks(const ConvPacking& packing) { return packing.block_groups; }

void pack(const ConvPacking& packing, const float* weights, float* packed, int64_t begin, int64_t end) {
  for (int64_t task = begin; task < end; ++task) pack_block_group(packing, kLanes, task, weights, packed);
}

/// A task is an output row of one plane and block group.
int64_t tasks(const ConvShape& shape) {
  return shape.batch * shape.out.depth * first_plan(shape).plan.block_groups * shape.out.height;
}

int64_t scratch_bytes(const ConvShape& shape) {
  const FirstPlan first = first_plan(shape);
  return first.plan.image_step * kFloat + round_up(border_bytes(first.plan), 64);
}

/// Copies what output rows [begin, end) of plane z of an image read, with zeros where the image ends.
void copy_rows(const FirstPlan& first, const ConvShape& shape, const float* image, int64_t z, int64_t begin, int64_t end, float* scratch) {
  const int64_t top = begin * shape.stride.height - shape.pad.height;
  const int64_t rows = (end - 1 - begin) * shape.stride.height + (shape.kernel.height - 1) * shape.dilation.height + 1;
  const int64_t plane_floats = shape.in.height * shape.in.width;
  for (int64_t kz = 0; kz < shape.kernel.depth; ++kz) {
    const int64_t plane = z * shape.stride.depth - shape.pad.depth + kz * shape.dilation.depth;
    const bool exists = plane >= 0 && plane < shape.in.depth;
    float* to = scratch + kz * first.plan.block_step;
    for (int64_t y = top; y < top + rows; ++y)
      to = !exists || y < 0 || y >= shape.in.height
               ? fill_zeros(to, first.plan.row_step)
               : interleave_row(image + plane * plane_floats + y * shape.in.width, shape.in_channels, shape.in.depth * plane_floats,
                                shape.in.width, shape.pad.width, first.width, to);
  }
}

void run(const ConvArgs& args, int64_t begin, int64_t end, void* scratch) {
  const ConvShape& shape = args.shape;
  const FirstPlan first = first_plan(shape);
  const Plan& plan = first.plan;
  const Borders borders = find_borders(plan, scratch);
  float* strip = reinterpret_cast<float*>(static_cast<char*>(scratch) + round_up(border_bytes(plan), 64));
  for (int64_t task = begin; task < end;) {
    const int64_t row = task % shape.out.height;
    const int64_t rows = smaller(smaller(end - task, first.strip_rows), shape.out.height - row);
    const int64_t block_group_index = task / shape.out.height % plan.block_groups;
    const int64_t plane = task / shape.out.height / plan.block_groups, image = plane / shape.out.depth, z = plane % shape.out.depth;
    const int64_t image_floats = shape.in_channels * shape.in.depth * shape.in.height * shape.in.width;
    copy_rows(first, shape, args.input + image * image_floats, z, row, row + rows, strip);
    BlockGroup block_group = make_block_group(plan, args, 0, block_group_index, image);
    const int64_t at = z * plan.out_plane_step + row * shape.out.width * kLanes;
    block_group.input = strip;
    block_group.output += at;
    if (block_group.residual) block_group.residual += at;
    run_tiles(plan, borders, block_group, 0, rows * plan.line_tiles);
    task += rows;
  }
}

}  // namespace

const Kind kFirstLayerKind{block_groups, block_group_floats, pack_tasks, pack, tasks, scratch_bytes, run};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
