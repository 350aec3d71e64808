// GlobalLpPool: the p-norm of each channel.
#include "engine/ops/nn/pool_common.h"

namespace svengine::ops {
namespace {

Status infer(InferContext& c) {
  SV_TRY(check_power(c.attributes()));
  return infer_global_pool(c);
}

/// dx = dy sign(x) (|x| / y)^(p - 1), and nothing where y is 0.
Status global_lp_pool_gradient(GradientContext& c) {
  const int64_t power = c.attributes().get_int("p", 2);
  Value* g = c.op("Mul", {c.dy(), c.op("Sign", {c.input(0)})});
  if (power > 1) {
    Value *y = c.output(), *zero = c.scalar(0, y);
    Value* norm = c.op("Where", {c.op("Equal", {y, zero}), c.scalar(1, y), y});
    Value* ratio = c.op("Div", {c.op("Abs", {c.input(0)}), norm});
    g = c.op("Mul", {g, power == 2 ? ratio : c.op("Pow", {ratio, c.scalar(static_cast<double>(power - 1), y)})});
  }
  c.set(0, g);
  return {};
}

}  // namespace

OpDef define_global_lp_pool() {
  return {
      .name = "GlobalLpPool",
      .inputs = "X",
      .attributes = {{"p", AttributeKind::kInt, false, 2}},
      .infer = infer,
      .lower =
          [](LowerContext& c) {
            return lower_global_pool(c, "global_lp_pool", kernels::PoolKind::kLp, static_cast<int32_t>(c.attributes().get_int("p", 2)));
          },
      .types = {{"T", kRealTypes, {0}}},
      .cost = pool_cost,
      .gradient = global_lp_pool_gradient,
      .samples = "(float32[2, 5, 7, 5]) {p = 1}"
                 "(float32[1, 2, 3, 4, 2]) {p = 3}"
                 "(float64[2, 5, 7])",
  };
}

}  // namespace svengine::ops
