// GlobalLpPool: the p-norm of each channel.
#include "engine/ops/nn/pool_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

Status infer(InferContext& c) {
  SV_TRY(check_power(c.attributes()));
  return infer_global_pool(c);
}

}  // namespace

OpDef define_global_lp_pool() {
  return {
      .name = "GlobalLpPool",
      .attributes = {{"p", AttributeKind::kInt, false, int64_t{2}}},
      .infer = infer,
      .lower =
          [](LowerContext& c) {
            return lower_global_pool(c, "global_lp_pool", kernels::PoolKind::kLp, static_cast<int32_t>(c.attributes().get_int("p", 2)));
          },
      .types = {{"T", kRealTypes, {0}}},
      .cost = pool_cost,
      .samples = {{.inputs = {f32({2, 5, 7, 5})}, .attributes = {{"p", integer(1)}}},
                  {.inputs = {any(DType::f64, {2, 5, 7}, -2, 2)}}},
  };
}

}  // namespace svengine::ops
