// MaxPool, with the positions of the maxima as an optional second output.
#include "engine/ops/nn/pool_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {

OpDef define_max_pool() {
  return {
      .name = "MaxPool",
      .outputs = {1, 2},
      .attributes = window_attributes({{"storage_order", AttributeKind::integer, false, int64_t{0}}}, true, true),
      .infer = infer_pool,
      .lower = [](LowerContext& c) { return lower_pool(c, "max_pool", {.kind = kernels::PoolKind::kMax, .shape = {}}); },
      .cost = pool_cost,
      .blocked = BlockedLayout::prefers,
      .can_block = can_block_pool,
      .samples = {{.inputs = {f32({2, 18, 9, 7})},
                   .attributes = {{"kernel_shape", integers({3, 3})}, {"strides", integers({2, 2})}, {"pads", integers({1, 1, 1, 1})}}},
                  {.inputs = {f32({1, 3, 17})}, .attributes = {{"kernel_shape", integers({4})}, {"ceil_mode", integer(1)}, {"strides", integers({3})}}},
                  {.inputs = {f32({1, 2, 8, 8})}, .attributes = {{"kernel_shape", integers({2, 2})}, {"dilations", integers({2, 2})}}, .outputs = 2}},
  };
}

}  // namespace svengine::ops
