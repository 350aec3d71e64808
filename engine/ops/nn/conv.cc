// Conv: over 1, 2 or 3 spatial dimensions, with groups, strides, dilations and padding.
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {

OpDef define_conv() {
  return {
      .name = "Conv",
      .inputs = {2, 3},
      .attributes = conv_attributes(),
      .infer = infer_conv,
      .lower = [](LowerContext& c) { return lower_conv(c, {}, {}); },
      .cost = conv_cost,
      .blocked = BlockedLayout::prefers,
      .can_block = can_block_conv,
      .reads_plain = conv_reads_plain,
      .rtol = 1e-5,
      .atol = 1e-5,
      .samples = {{.inputs = {f32({2, 3, 11, 9}), f32({7, 3, 3, 3}), f32({7})}, .attributes = {{"pads", integers({1, 1, 1, 1})}}},
                  {.inputs = {f32({1, 20, 8, 8}), f32({18, 20, 1, 1})}, .attributes = {{"strides", integers({2, 2})}}},
                  {.inputs = {f32({1, 12, 9, 9}), f32({12, 1, 3, 3}), f32({12})},
                   .attributes = {{"group", integer(12)}, {"dilations", integers({2, 2})}, {"pads", integers({2, 2, 2, 2})}}},
                  {.inputs = {f32({1, 6, 10, 7}), f32({8, 3, 3, 2})}, .attributes = {{"group", integer(2)}, {"auto_pad", text("SAME_UPPER")}}},
                  {.inputs = {f32({2, 3, 17}), f32({5, 3, 4}), f32({5})}, .attributes = {{"strides", integers({3})}}}},
  };
}

}  // namespace svengine::ops
