// CastLike: a Cast to the second input's element type. Import turns it into one.
#include "engine/graph/gradient.h"
#include "engine/graph/op_registry.h"
#include "engine/ops/convert/small_cast_common.h"
#include "engine/ops/convert/string_cast_common.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

Status canonicalize_cast_like(CanonicalizeContext& c) {
  const Value* like = c.node().input(1);
  if (!like) return error("input 1 is required but absent");
  c.attributes().set("to", static_cast<int64_t>(like->type.dtype));
  c.graph().resize_inputs(&c.node(), 1);
  c.graph().set_op(&c.node(), *c.ops().find("", "Cast"));
  return {};
}

Status infer_cast_like(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kStoredTypes | DTypeSet{DType::string}));
  SV_TRY(require_dtype(c, 1, kStoredTypes | DTypeSet{DType::string}));
  SV_TRY(byte_float_rules(c.attributes()));
  c.set(0, c.dtype(1), c.shape(0));
  return {};
}

Status lower_cast_like(LowerContext& c) {
  if (is_handle(c.in_type(0).dtype) || is_handle(c.out_type().dtype)) return error("strings are converted on the host, not by a plan");
  SV_ASSIGN(const ByteFloatRules rules, byte_float_rules(c.attributes()));
  emit_cast(c, c.in(0), c.in_type(0).dtype, c.out(), c.out_type().dtype, stored_count(c.in_type(0)), rules);
  return {};
}

Status cast_like_gradient(GradientContext& c) {
  c.set(0, c.op("Cast", {c.dy()}, make_attributes({{"to", static_cast<int64_t>(c.input(0)->type.dtype)}})));
  return {};
}

}  // namespace

OpDef define_cast_like() {
  OpDef op = unary_op("CastLike", "input, target_type", infer_cast_like, lower_cast_like, false);
  op.traits.transposed = nullptr;  // imported ones are Casts
  op.kernel_types = kDenseTypes;
  op.since = 15;
  op.evaluate = cast_strings;
  op.attributes = {{"saturate", AttributeKind::kInt, false, 1}, {"round_mode", AttributeKind::kString, false, "up"}};
  op.canonicalize = canonicalize_cast_like;
  op.gradient = cast_like_gradient;
  op.samples = "(float32[3, 7] -9 to 9, int64[1])"
               "(int32[9], float32[2])";
  op.types = {{"T1", kAllTypes, {0}}, {"T2", kAllTypes, {1}}};
  return op;
}

}  // namespace svengine::ops
