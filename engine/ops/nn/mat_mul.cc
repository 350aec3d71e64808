// MatMul: numpy.matmul.
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

Status infer(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "A", {DType::f32}));
  SV_TRY(require_dtype(c, 1, "B", {DType::f32}));
  SV_ASSIGN(Shape shape, matmul_shape(c.shape(0), c.shape(1), false, false));
  c.set(0, DType::f32, std::move(shape));
  return {};
}

Status lower(LowerContext& c) {
  emit_product(c, matmul_of(c, false, false));
  return {};
}

}  // namespace

OpDef define_mat_mul() {
  return {
      .name = "MatMul",
      .inputs = {2, 2},
      .infer = infer,
      .lower = lower,
      .cost = matmul_cost,
      .rtol = 1e-5,
      .atol = 1e-5,
      .samples = {{.inputs = {f32({13, 37}), f32({37, 29})}},
                  {.inputs = {f32({2, 3, 5, 17}), f32({3, 17, 8})}},
                  {.inputs = {f32({40}), f32({4, 40, 33})}},
                  {.inputs = {f32({7, 40}), f32({40})}}},
  };
}

}  // namespace svengine::ops
