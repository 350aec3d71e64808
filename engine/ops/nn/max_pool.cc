// MaxPool, with the positions of the maxima as an optional second output.
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/nn/pool_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kBytes{DType::u8, DType::i8};

Status infer_max_pool(InferContext& c) { return infer_pool(c, DTypeSet{DType::f32} | kBytes); }

/// Bytes are pooled as float32, which holds them exactly.
Status lower_max_pool(LowerContext& c) {
  const kernels::PoolArgs args{.kind = kernels::PoolKind::kMax, .shape = {}};
  const DType type = c.in_type(0).dtype;
  if (!kBytes.has(type)) return lower_pool(c, "max_pool", args, c.in(0), c.out());
  const int64_t in_count = element_count(c.in_dims(0)), out_count = element_count(c.out_dims());
  const Buffer in = c.temporary(in_count * 4), out = c.temporary(out_count * 4);
  emit_cast(c, c.in(0), type, in, DType::f32, in_count);
  SV_TRY(lower_pool(c, "max_pool", args, in, out));
  emit_cast(c, out, DType::f32, c.out(), type, out_count);
  return {};
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
