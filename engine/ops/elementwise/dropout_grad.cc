// svengine.DropoutGrad: the gradient of Dropout's data, whose elements pass where the mask says they did. Inputs: dy, Dropout's
// mask, training_mode, and ratio (optional).
#include "engine/ops/elementwise/dropout_common.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

Status infer_dropout_grad(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, kBool));
  SV_TRY(require_dtype(c, 2, kBool));
  SV_TRY(require_same_shape(c, 0, 1));
  c.set(0, c.type(0));
  return {};
}

Status lower_dropout_grad(LowerContext& c) {
  const DType ratio_type = c.has_input(3) ? c.in_type(3).dtype : DType::f32;
  emit_dropout_apply(c, c.in(0), c.in(1), c.in(3), ratio_type, c.in(2), c.out(), element_count(c.in_dims(0)));
  return {};
}

Status dropout_grad_gradient(GradientContext& c) {
  std::vector<Value*> inputs = c.node().inputs();
  inputs[0] = c.dy();
  c.set(0, c.internal("DropoutGrad", std::move(inputs)));
  return {};
}

}  // namespace

OpDef define_dropout_grad() {
  return {
      .name = "DropoutGrad",
      .domain = kInternalDomain,
      .inputs = "dy, mask, training_mode, ratio?",
      .infer = infer_dropout_grad,
      .lower = lower_dropout_grad,
      .gradient = dropout_grad_gradient,
      .traits = {.may_overwrite = true, .linear_input = 0},
      .samples = "(float32[3, 21], bool[3, 21] 0 to 2, bool[]{1}, float32[]{0.25})",
  };
}

}  // namespace svengine::ops
