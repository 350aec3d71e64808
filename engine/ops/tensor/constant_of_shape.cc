// ConstantOfShape: a tensor of the given shape, every element `value`.
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

Tensor fill_value(const Attributes& attributes) {
  const auto* value = attributes.get<Tensor>("value");
  return value ? *value : Tensor::scalar<float>(0.0f);
}

Status infer_constant_of_shape(InferContext& c) {
  const Tensor value = fill_value(c.attributes());
  if (value.count() != 1) return error("attribute 'value' has {} elements, needs one", value.count());
  SV_TRY(require_dtype(c, 0, {DType::i64}));
  SV_TRY(require_rank(c, 0, 1));
  if (const auto dims = c.integers(0)) {
    SV_TRY(check_dims(*dims));
    c.set(0, value.type(), Shape::of(*dims));
  } else {
    const Shape& s = c.shape(0);
    const bool known = s.has_rank() && s[0].is_static() && s[0].value() <= 32;
    c.set(0, value.type(), known ? unknown_dims(s[0].value()) : Shape());
  }
  return {};
}

Status lower_constant_of_shape(LowerContext& c) {
  const Tensor value = fill_value(c.attributes());
  emit_fill(c, c.out(), element_count(c.out_dims()), size_of(value.type()), element_bits(value));
  return {};
}

}  // namespace

OpDef define_constant_of_shape() {
  return {
      .name = "ConstantOfShape",
      .since = 9,
      .inputs = "input",
      .attributes = {{"value", AttributeKind::kTensor}},
      .infer = infer_constant_of_shape,
      .lower = lower_constant_of_shape,
      .types = {{"T1", DTypeSet{DType::i64}, {0}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .traits = {.shape_inputs = {0}},
      .samples = "(int64[2]{2, 3})"
                 "(int64[1]{5}) {value = int64[1]{-7}}"
                 "(int64[2]{3, 0}) {value = int32[1]{1}}",
  };
}

}  // namespace svengine::ops
