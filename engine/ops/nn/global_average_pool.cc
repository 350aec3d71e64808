// GlobalAveragePool: the mean of each channel.
#include "engine/ops/nn/pool_common.h"

namespace svengine::ops {
namespace {

Status global_average_pool_gradient(GradientContext& c) {
  c.set(0, c.expand_to(c.dy(), c.input(0), true));
  return {};
}

}  // namespace

OpDef define_global_average_pool() {
  return {
      .name = "GlobalAveragePool",
      .inputs = "X",
      .infer = infer_global_pool,
      .lower = [](LowerContext& c) { return lower_global_pool(c, "global_average_pool", kernels::PoolKind::kAverage, 2); },
      .types = {{"T", kRealTypes, {0}}},
      .cost = pool_cost,
      .gradient = global_average_pool_gradient,
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_pool},
      .samples = "(float32[2, 18, 7, 5])"
                 "(float32[1, 3, 65])"
                 "(float64[2, 3, 5])",
  };
}

}  // namespace svengine::ops
