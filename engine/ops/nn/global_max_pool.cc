// GlobalMaxPool: the largest element of each channel.
#include <algorithm>

#include "engine/ops/nn/pool_common.h"

namespace svengine::ops {
namespace {

Status global_max_pool_gradient(GradientContext& c) {
  const Shape& x = c.input(0)->type.shape;
  std::vector<int64_t> window;
  for (size_t i = 2; x.has_rank() && i < x.dims().size(); ++i) window.push_back(x[i].is_static() ? x[i].value() : -1);
  if (window.empty() || std::count(window.begin(), window.end(), -1))
    return error("the gradient needs an image of known size, X is {}", to_string(x));
  Attributes attributes = make_attributes({{"mode", std::string("max")}, {"kernel_shape", window}});
  c.set(0, c.internal("PoolGrad", {c.dy(), c.input(0)}, std::move(attributes)));
  return {};
}

}  // namespace

OpDef define_global_max_pool() {
  return {
      .name = "GlobalMaxPool",
      .inputs = "X",
      .infer = infer_global_pool,
      .lower = [](LowerContext& c) { return lower_global_pool(c, "global_max_pool", kernels::PoolKind::kMax, 2); },
      .types = {{"T", kRealTypes, {0}}},
      .cost = pool_cost,
      .gradient = global_max_pool_gradient,
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_pool},
      .samples = "(float32[2, 18, 7, 5])"
                 "(float32[1, 3, 65])"
                 "(float64[2, 3, 5])",
  };
}

}  // namespace svengine::ops
