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
  SV_TRY(require_dtype(c, 0, "input", kCastTypes));
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
  OpDef op = unary_op("Cast", infer_cast, lower_cast, false);
  op.kernel_types = kDenseTypes;
  op.evaluate = cast_strings;
  op.attributes = {{"to", AttributeKind::kInt, true},
                   {"saturate", AttributeKind::kInt, false, integer(1)},
                   {"round_mode", AttributeKind::kString, false, std::string("up")}};
  op.samples = {{.inputs = {f32({3, 37}, -9, 9)}, .attributes = {{"to", integer(7)}}},
                {.inputs = {any(DType::i64, {65}, -9, 9)}, .attributes = {{"to", integer(1)}}},
                {.inputs = {f32({5, 7}, -9, 9)}, .attributes = {{"to", integer(10)}}},
                {.inputs = {any(DType::boolean, {5, 7}, 0, 2)}, .attributes = {{"to", integer(1)}}},
                {.inputs = {any(DType::i32, {33}, -1, 2)}, .attributes = {{"to", integer(9)}}},
                {.inputs = {f32({35}, -500, 500)}, .attributes = {{"to", integer(17)}}},
                {.inputs = {f32({35}, -500, 500)}, .attributes = {{"to", integer(18)}, {"saturate", integer(0)}}},
                {.inputs = {f32({2, 9}, -9, 9)}, .attributes = {{"to", integer(22)}}},
                {.inputs = {f32({2, 9}, 0, 9)}, .attributes = {{"to", integer(24)}, {"round_mode", text("nearest")}}}};
  op.traits.is_identity = [](const Node& node) { return node.input(0)->type.dtype == node.output()->type.dtype; };
  op.gradient = cast_gradient;
  op.types = {{"T1", kAllTypes, {0}}};
  return op;
}

}  // namespace svengine::ops
