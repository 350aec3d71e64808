// Cast: the values in another element type. Floats become integers by truncation, anything but 0 becomes true; strings are read and written.
#include "engine/graph/gradient.h"
#include "engine/ops/convert/small_cast_common.h"
#include "engine/ops/convert/string_cast_common.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kCastTypes = kStoredTypes | DTypeSet{DType::string};

Status infer_cast(InferContext& c) {
  SV_ASSIGN(const DType type, dtype_attribute(c.attributes(), "to", DType::undefined, kCastTypes));
  SV_TRY(require_dtype(c, 0, kCastTypes));
  SV_TRY(byte_float_rules(c.attributes()));
  c.set(0, type, c.shape(0));
  return {};
}

Status lower_cast(LowerContext& c) {
  if (is_handle(c.in_type(0).dtype) || is_handle(c.out_type().dtype)) return error("strings are converted on the host, not by a plan");
  SV_ASSIGN(const ByteFloatRules rules, byte_float_rules(c.attributes()));
  emit_cast(c, c.in(0), c.in_type(0).dtype, c.out(), c.out_type().dtype, stored_count(c.in_type(0)), rules);
  return {};
}

Status cast_gradient(GradientContext& c) {
  c.set(0, c.op("Cast", {c.dy()}, make_attributes({{"to", static_cast<int64_t>(c.input(0)->type.dtype)}})));
  return {};
}

}  // namespace

OpDef define_cast() {
  OpDef op = unary_op("Cast", "input", infer_cast, lower_cast, false);
  op.kernel_types = kDenseTypes;
  op.evaluate = cast_strings;
  op.attributes = {{"to", AttributeKind::kInt, true},
                   {"saturate", AttributeKind::kInt, false, 1},
                   {"round_mode", AttributeKind::kString, false, "up"}};
  op.samples = "(float32[3, 37] -9 to 9) {to = 7}"
               "(int64[65] -9 to 9) {to = 1}"
               "(float32[5, 7] -9 to 9) {to = 10}"
               "(bool[5, 7] 0 to 2) {to = 1}"
               "(int32[33] -1 to 2) {to = 9}"
               "(float32[35] -500 to 500) {to = 17}"
               "(float32[35] -500 to 500) {to = 18, saturate = 0}"
               "(float32[2, 9] -9 to 9) {to = 22}"
               R"((float32[2, 9] 0 to 9) {to = 24, round_mode = "nearest"})";
  op.traits.is_identity = [](const Node& node) { return node.input(0)->type.dtype == node.output()->type.dtype; };
  op.gradient = cast_gradient;
  op.types = {{"T1", kAllTypes, {0}}};
  return op;
}

}  // namespace svengine::ops
