// AveragePool: the mean of each window, of the positions inside the image or (count_include_pad) inside the padded one.
#include "engine/ops/nn/pool_common.h"

namespace svengine::ops {
namespace {

Status lower_average_pool(LowerContext& c) {
  return lower_pool(c, "average_pool",
                    {.kind = kernels::PoolKind::kAverage, .shape = {}, .count_padding = c.attributes().get_int("count_include_pad") != 0});
}

Status average_pool_gradient(GradientContext& c) {
  return set_pool_gradient(c, "average");
}

}  // namespace

OpDef define_average_pool() {
  return {
      .name = "AveragePool",
      .inputs = "X",
      .attributes = window_attributes({{"count_include_pad", AttributeKind::kInt, false, 0}}, true, true),
      .infer = infer_pool,
      .lower = lower_average_pool,
      .types = {{"T", kRealTypes, {0}}},
      .cost = pool_cost,
      .gradient = average_pool_gradient,
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_pool},
      .samples = "(float32[2, 18, 9, 7]) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}"
                 R"((float32[1, 3, 9, 9]) {kernel_shape = [3, 3], count_include_pad = 1, auto_pad = "SAME_LOWER"})"
                 "(float64[1, 3, 9, 7]) {kernel_shape = [3, 2], pads = [1, 1, 1, 0], count_include_pad = 1}"
                 "(float64[1, 3, 9]) {kernel_shape = [3], pads = [1, 1]}"
                 "(float16[1, 3, 9]) {kernel_shape = [3]}",
  };
}

}  // namespace svengine::ops
