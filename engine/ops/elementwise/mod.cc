// Mod: the remainder of a / b. With fmod it has the sign of a, else that of b; floats need fmod.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

Status infer_mod(InferContext& c) {
  if (kRealTypes.has(c.dtype(0)) && c.attributes().get_int("fmod") == 0)
    return error("inputs of type {} need attribute fmod = 1", name_of(c.dtype(0)));
  return infer_binary<kNumericTypes, false>(c);
}

Status lower_mod(LowerContext& c) {
  const bool fmod = c.attributes().get_int("fmod") != 0;
  return emit_binary(c, fmod ? kernels::BinaryOp::kFmod : kernels::BinaryOp::kMod, operand_of(c, 0), operand_of(c, 1), result_of(c));
}

}  // namespace

OpDef define_mod() {
  OpDef op = binary_op("Mod", infer_mod, lower_mod, false);
  op.since = 10;
  op.attributes = {{"fmod", AttributeKind::kInt, false, integer(0)}};
  op.samples = {{.inputs = {any(DType::i64, {3, 9}, -20, 20), any(DType::i64, {9}, 1, 6)}},
                {.inputs = {any(DType::i32, {19}, -20, 20), any(DType::i32, {19}, -6, -1)}},
                {.inputs = {f32({4, 33}, -20, 20), f32({33}, 0.5, 6)}, .attributes = {{"fmod", integer(1)}}}};
  return op;
}

}  // namespace svengine::ops
