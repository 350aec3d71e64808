// LpPool: the p-norm of each window.
#include "engine/ops/nn/pool_common.h"

namespace svengine::ops {
namespace {

Status infer_lp_pool(InferContext& c) {
  SV_TRY(check_power(c.attributes()));
  return infer_pool(c);
}

Status lower_lp_pool(LowerContext& c) {
  return lower_pool(c, "lp_pool", {.kind = kernels::PoolKind::kLp, .shape = {}, .power = static_cast<int32_t>(c.attributes().get_int("p", 2))});
}

Status lp_pool_gradient(GradientContext& c) {
  c.set(0, c.internal("LpPoolGrad", {c.dy(), c.input(0), c.output()}, c.attributes()));
  return {};
}

}  // namespace

OpDef define_lp_pool() {
  return {
      .name = "LpPool",
      .inputs = "X",
      .attributes = window_attributes({{"p", AttributeKind::kInt, false, 2}}, true, true),
      .infer = infer_lp_pool,
      .lower = lower_lp_pool,
      .types = {{"T", kRealTypes, {0}}},
      .cost = pool_cost,
      .gradient = lp_pool_gradient,
      .samples = "(float32[2, 5, 9, 7]) {kernel_shape = [3, 3], p = 3}"
                 "(float32[1, 2, 5, 4, 3]) {kernel_shape = [3, 2, 2], strides = [2, 1, 2], pads = [1, 0, 1, 1, 0, 0]}"
                 "(float64[2, 5, 9]) {kernel_shape = [3], p = 3}",
  };
}

}  // namespace svengine::ops
