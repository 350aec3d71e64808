// DynamicQuantizeLinear: uint8 with scale and zero point from the data's own range, 0 included. Where all data are 0 the scale is 1.
#include "engine/ops/infer_util.h"
#include "engine/ops/quantized/dynamic_quantize_common.h"

namespace svengine::ops {
namespace {

Status infer_dynamic_quantize_linear(InferContext& c) {
  SV_TRY(require_dtype(c, 0, {DType::f32}));
  c.set(0, DType::u8, c.shape(0));
  c.set(1, DType::f32, Shape{std::vector<Dim>{}});
  c.set(2, DType::u8, Shape{std::vector<Dim>{}});
  return {};
}

Status lower_dynamic_quantize_linear(LowerContext& c) {
  const Buffer scale = c.has_output(1) ? c.out(1) : c.temporary(4), zero = c.has_output(2) ? c.out(2) : c.temporary(1);
  emit_dynamic_quantize(c, c.in(0), element_count(c.in_dims(0)), c.out(0), scale, zero);
  return {};
}

}  // namespace

OpDef define_dynamic_quantize_linear() {
  return {
      .name = "DynamicQuantizeLinear",
      .since = 11,
      .inputs = "x",
      .outputs = {1, 3},
      .infer = infer_dynamic_quantize_linear,
      .lower = lower_dynamic_quantize_linear,
      .samples = "(float32[3, 37] -1 to 5) 3"
                 "(float32[7] 1 to 5) 3"
                 "(float32[20011] -3 to -1) 3",
  };
}

}  // namespace svengine::ops
