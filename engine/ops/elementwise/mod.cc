// Mod: the remainder of a / b. With fmod it has the sign of a, else that of b. The kernels know floats with fmod; without, it is made of that.
#include "engine/graph/gradient.h"
#include "engine/graph/op_registry.h"
#include "engine/ops/element.h"
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

/// r = fmod(a, b), or r + b where the signs differ; a 0 has the sign of b. Infinite b: a, or b where the signs differ.
Status canonicalize_mod(CanonicalizeContext& c) {
  Value *a = c.node().input(0), *b = c.node().input(1);
  if (!a || !b || !kRealTypes.has(a->type.dtype) || c.attributes().get_int("fmod") != 0) return {};
  Builder build(c.graph(), c.ops());
  build.set_position(&c.node());
  build.set_node_name(c.node().name());
  Value* zero = build.constant(scalar_of(b->type.dtype, 0.0));
  Value* minus_zero = build.constant(scalar_of(b->type.dtype, -0.0));
  Value* r = build.add("Mod", {a, b}, make_attributes({{"fmod", int64_t{1}}}));
  Value* below = build.add("Less", {b, zero});
  Value* differ = build.add("Xor", {build.add("Less", {r, zero}), below});
  Value* moved = build.add("Where", {differ, build.add("Add", {r, b}), r});
  Value *is_zero = build.add("Equal", {r, zero}), *signed_zero = build.add("Where", {below, minus_zero, zero});
  SV_TRY(build.status());
  c.node().attributes = {};
  c.graph().resize_inputs(&c.node(), 3);
  c.set_input(0, is_zero);
  c.set_input(1, signed_zero);
  c.set_input(2, moved);
  c.graph().set_op(&c.node(), *c.ops().find("", "Where"));
  return {};
}

Status infer_mod(InferContext& c) {
  if (kRealTypes.has(c.dtype(0)) && c.attributes().get_int("fmod") == 0)
    return error("inputs of type {} need attribute fmod = 1", name_of(c.dtype(0)));
  return infer_binary<kNumericTypes, false>(c);
}

Status lower_mod(LowerContext& c) {
  const bool fmod = c.attributes().get_int("fmod") != 0;
  return emit_binary(c, fmod ? kernels::BinaryOp::kFmod : kernels::BinaryOp::kMod, operand_of(c, 0), operand_of(c, 1), result_of(c));
}

/// a - q b, q being a whole number: constant almost everywhere.
Status mod_gradient(GradientContext& c) {
  c.set(0, c.sum_to(c.dy(), c.input(0)));
  if (!c.wants(1)) return {};
  Value* quotient = c.op("Round", {c.op("Div", {c.op("Sub", {c.input(0), c.output()}), c.input(1)})});
  c.set(1, c.sum_to(c.op("Neg", {c.op("Mul", {c.dy(), quotient})}), c.input(1)));
  return {};
}

}  // namespace

OpDef define_mod() {
  OpDef op = binary_op("Mod", "A, B", infer_mod, lower_mod, false);
  op.since = 10;
  op.canonicalize = canonicalize_mod;
  op.gradient = mod_gradient;
  op.attributes = {{"fmod", AttributeKind::kInt, false, 0}};
  op.samples = "(int64[3, 9] -20 to 20, int64[9] 1 to 6)"
               "(int32[19] -20 to 20, int32[19] -6 to -1)"
               "(float32[4, 33] -20 to 20, float32[33] 0.5 to 6) {fmod = 1}";
  op.types = {{"T", kNumericTypes, {0, 1}}};
  return op;
}

}  // namespace svengine::ops
