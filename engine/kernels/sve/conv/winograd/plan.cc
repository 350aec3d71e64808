// Where everything of Winograd's convolution lies.
#include "engine/kernels/sve/conv/direct/plan.h"
#include "engine/kernels/sve/conv/winograd/winograd.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

WinogradPlan winograd_plan(const ConvShape& shape) {
  WinogradPlan plan{};
  static_cast<Tiling&>(plan) = winograd::make_tiling(kMachine, shape);
  plan.in_height = shape.in.height, plan.in_width = shape.in.width;
  plan.out_height = shape.out.height, plan.out_width = shape.out.width;
  plan.pad_height = shape.pad.height, plan.pad_width = shape.pad.width;
  plan.in_depth = shape.in.depth, plan.out_depth = shape.out.depth;
  plan.stride_depth = shape.stride.depth, plan.dilation_depth = shape.dilation.depth, plan.pad_depth = shape.pad.depth;
  plan.in_row_step = plan.in_width * kLanes;
  plan.in_plane_step = plan.in_height * plan.in_row_step;
  plan.in_block_step = plan.in_depth * plan.in_plane_step;
  plan.in_image_step = plan.plane_blocks * plan.in_block_step;
  plan.out_row_step = plan.out_width * kLanes;
  plan.out_plane_step = plan.out_height * plan.out_row_step;
  plan.out_block_step = plan.out_depth * plan.out_plane_step;
  plan.out_image_step = plan.out_blocks * plan.out_block_step;
  return plan;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
