// Dropout at inference: the input, and a mask that is true everywhere.
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/element.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

/// Before opset 12 the ratio was an attribute, and until opset 6 so was the mode.
Status canonicalize(CanonicalizeContext& c) {
  const Value* x = c.node().input(0);
  if (const float* ratio = c.attributes().get<float>("ratio"); ratio && x) {
    c.set_input(1, c.graph().add_constant(c.node().name() + ".ratio", scalar_of(DType::f32, *ratio)));
    c.attributes().erase("ratio");
  }
  if (c.opset() < 7 && c.attributes().integer("is_test") == 0)
    return error("attribute is_test is 0: training is not expressed by this operator here; export the model for inference");
  c.attributes().erase("is_test");
  return {};
}

/// With a ratio of 0, training drops nothing.
bool drops_nothing(const InferContext& c) {
  if (!c.has_input(1)) return false;
  const Tensor* ratio = c.constant(1);
  return ratio && ratio->count() == 1 && number_at(ratio->type(), ratio->raw(), 0) == 0;
}

Status infer(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "data", kRealTypes));
  SV_TRY(require_dtype(c, 1, "ratio", kRealTypes));
  SV_TRY(require_dtype(c, 2, "training_mode", kBool));
  SV_TRY(require_single(c, 1, "ratio"));
  SV_TRY(require_single(c, 2, "training_mode"));
  if (c.has_input(2)) {
    const Tensor* training = c.constant(2);
    if (!training) return error("training_mode is computed; it has to be a constant");
    if (training->data<uint8_t>()[0] && !drops_nothing(c))
      return error("training_mode is true: random dropout is not supported; export the model for inference");
  }
  c.set(0, c.type(0));
  c.set(1, DType::boolean, c.shape(0));
  return {};
}

Status lower(LowerContext& c) {
  const int64_t count = element_count(c.in_dims(0));
  emit_copy(c, "copy", flat_view(count));
  if (c.has_output(1)) emit_fill(c, c.out(1), count, 1, 1);
  return {};
}

}  // namespace

OpDef define_dropout() {
  OpDef op = unary_op("Dropout", infer, lower, false);
  op.inputs = {1, 3};
  op.outputs = {1, 2};
  op.attributes = {{"seed", AttributeKind::integer}};
  op.canonicalize = canonicalize;
  op.may_overwrite = false;
  op.samples = {{.inputs = {f32({3, 21})}}, {.inputs = {f32({3, 21})}, .outputs = 2}};
  return op;
}

}  // namespace svengine::ops
