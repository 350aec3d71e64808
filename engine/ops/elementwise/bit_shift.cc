// BitShift: a shifted by b bits, left or right.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

Status infer_bit_shift(InferContext& c) {
  const std::string direction = c.attributes().get_string("direction");
  if (direction != "LEFT" && direction != "RIGHT") return error("direction is '{}', needs LEFT or RIGHT", direction);
  return infer_binary<kUnsignedTypes, false>(c);
}

Status lower_bit_shift(LowerContext& c) {
  const bool left = c.attributes().get_string("direction") == "LEFT";
  return emit_binary(c, left ? kernels::BinaryOp::kShiftLeft : kernels::BinaryOp::kShiftRight, operand_of(c, 0), operand_of(c, 1),
                     result_of(c));
}

}  // namespace

OpDef define_bit_shift() {
  OpDef op = binary_op("BitShift", infer_bit_shift, lower_bit_shift, false);
  op.since = 11;
  op.attributes = {{"direction", AttributeKind::kString, true}};
  op.samples = {{.inputs = {any(DType::u8, {3, 9}, 0, 255), any(DType::u8, {9}, 0, 9)}, .attributes = {{"direction", text("LEFT")}}},
                {.inputs = {any(DType::u32, {19}, 0, 1e9), any(DType::u32, {}, 0, 31)}, .attributes = {{"direction", text("RIGHT")}}}};
  return op;
}

}  // namespace svengine::ops
