// MaxPool, with the positions of the maxima as an optional second output.
#include "engine/ops/nn/pool_common.h"
#include "engine/ops/samples.h"

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
      .outputs = {1, 2},
      .attributes = window_attributes({{"storage_order", AttributeKind::kInt, false, int64_t{0}}}, true, true),
      .infer = infer_pool,
      .lower = lower_max_pool,
      .types = {{"T", kRealTypes | kBytes, {0}}},
      .kernel_types = {DType::f32, DType::f64, DType::i64},  // indices are int64
      .cost = pool_cost,
      .gradient = max_pool_gradient,
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_pool},
      .samples = {{.inputs = {f32({2, 18, 9, 7})},
                   .attributes = {{"kernel_shape", integers({3, 3})}, {"strides", integers({2, 2})}, {"pads", integers({1, 1, 1, 1})}}},
                  {.inputs = {f32({1, 3, 17})}, .attributes = {{"kernel_shape", integers({4})}, {"ceil_mode", integer(1)}, {"strides", integers({3})}}},
                  {.inputs = {f32({1, 2, 8, 8})}, .attributes = {{"kernel_shape", integers({2, 2})}, {"dilations", integers({2, 2})}}, .outputs = 2},
                  {.inputs = {any(DType::u8, {1, 2, 8, 8}, 0, 255)}, .attributes = {{"kernel_shape", integers({3, 3})}}},
                  {.inputs = {any(DType::f64, {2, 3, 8, 7}, -2, 2)},
                   .attributes = {{"kernel_shape", integers({3, 2})}, {"strides", integers({2, 1})}, {"pads", integers({1, 1, 0, 1})}},
                   .outputs = 2},
                  {.inputs = {any(DType::bf16, {1, 2, 9}, -2, 2)}, .attributes = {{"kernel_shape", integers({3})}}}},
  };
}

}  // namespace svengine::ops
