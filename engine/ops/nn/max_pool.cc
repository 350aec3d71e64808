// MaxPool, with the positions of the maxima as an optional second output.
#include "engine/ops/nn/pool_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

Status infer_max_pool(InferContext& c) { return infer_pool(c, kSingleTypes | DTypeSet{DType::u8, DType::i8}); }

Status lower_max_pool(LowerContext& c) {
  const kernels::PoolArgs args{.kind = kernels::PoolKind::kMax, .shape = {}};
  return lower_pool(c, "max_pool", args, c.in(0), c.out());
}

bool can_block_max_pool(const Node& node, int block) { return node.input(0)->type.dtype == DType::f32 && can_block_pool(node, block); }

Status max_pool_gradient(GradientContext& c) {
  return set_pool_gradient(c, "max");
}

}  // namespace

OpDef define_max_pool() {
  return {
      .name = "MaxPool",
      .outputs = {1, 2},
      .attributes = window_attributes({{"storage_order", AttributeKind::kInt, false, int64_t{0}}}, true, true),
      .infer = infer_max_pool,
      .lower = lower_max_pool,
      .kernel_types = {DType::f32, DType::i64},  // indices are int64
      .cost = pool_cost,
      .gradient = max_pool_gradient,
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_max_pool},
      .samples = {{.inputs = {f32({2, 18, 9, 7})},
                   .attributes = {{"kernel_shape", integers({3, 3})}, {"strides", integers({2, 2})}, {"pads", integers({1, 1, 1, 1})}}},
                  {.inputs = {f32({1, 3, 17})}, .attributes = {{"kernel_shape", integers({4})}, {"ceil_mode", integer(1)}, {"strides", integers({3})}}},
                  {.inputs = {f32({1, 2, 8, 8})}, .attributes = {{"kernel_shape", integers({2, 2})}, {"dilations", integers({2, 2})}}, .outputs = 2},
                  {.inputs = {any(DType::u8, {1, 2, 8, 8}, 0, 255)}, .attributes = {{"kernel_shape", integers({3, 3})}}}},
  };
}

}  // namespace svengine::ops
