// MaxPool, with the positions of the maxima as an optional second output.
#include "engine/ops/nn/pool_common.h"

namespace svengine::ops {
namespace {

Status lower_max_pool(LowerContext& c) { return lower_pool(c, "max_pool", {.kind = kernels::PoolKind::kMax, .shape = {}}); }

Status max_pool_gradient(GradientContext& c) {
  return set_pool_gradient(c, "max");
}

}  // namespace

OpDef define_max_pool() {
  return {
      .name = "MaxPool",
      .inputs = "X",
      .outputs = {1, 2},
      .attributes = window_attributes({{"storage_order", AttributeKind::kInt, false, 0}}, true, true),
      .infer = infer_pool,
      .lower = lower_max_pool,
      .types = {{"T", kRealTypes | kBytes, {0}}},
      .kernel_types = {DType::f32, DType::f64, DType::i64},  // indices are int64
      .cost = pool_cost,
      .gradient = max_pool_gradient,
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_pool},
      .samples = "(float32[2, 18, 9, 7]) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]}"
                 "(float32[1, 3, 17]) {kernel_shape = [4], ceil_mode = 1, strides = [3]}"
                 "(float32[1, 2, 8, 8]) {kernel_shape = [2, 2], dilations = [2, 2]} 2"
                 "(uint8[1, 2, 8, 8] 0 to 255) {kernel_shape = [3, 3]}"
                 "(float64[2, 3, 8, 7]) {kernel_shape = [3, 2], strides = [2, 1], pads = [1, 1, 0, 1]} 2"
                 "(bfloat16[1, 2, 9]) {kernel_shape = [3]}",
  };
}

}  // namespace svengine::ops
