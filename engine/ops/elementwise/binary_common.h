// Operators that are one function of two tensors, element by element with NumPy's broadcasting.
//
// Blocked (NCHWc) operands are all of one shape, but for scalars, which are plain.
#pragma once
#include "engine/kernels/elementwise.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/elementwise/unary_common.h"

namespace svengine::ops {

/// An operand of a broadcast: memory, element type, and dimensions as stored.
struct Operand {
  Buffer buffer;
  DType type = DType::undefined;
  Dims dims;
};

/// Input i as an operand of an output that may be blocked.
Operand operand_of(LowerContext& c, size_t i);
/// Output 0 as an operand.
Operand result_of(LowerContext& c);

/// The loop nest that broadcasts the operands to `out`.
Result<kernels::Broadcast> broadcast_of(const Dims& out, std::initializer_list<const Operand*> operands);

/// The operand in another element type: itself, or a temporary.
Operand converted(LowerContext& c, Operand from, DType to);

/// out = op(a, b), computed in the operands' common type.
Status emit_binary(LowerContext& c, kernels::BinaryOp op, Operand a, Operand b, const Operand& out);

/// Output of the inputs' common type, or bool, and their broadcast shape.
template <DTypeSet kTypes, bool kToBool>
Status infer_binary(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kTypes));
  SV_TRY(require_same_dtypes(c));
  SV_ASSIGN(Shape out, broadcast_inputs(c));
  c.set(0, kToBool ? DType::boolean : c.dtype(0), std::move(out));
  return {};
}

template <kernels::BinaryOp kOp>
Status lower_binary(LowerContext& c) {
  return emit_binary(c, kOp, operand_of(c, 0), operand_of(c, 1), result_of(c));
}

/// Before opset 7, attribute `axis` said which dimension of A the first of B goes with. B gets the missing 1s at its end.
Status canonicalize_binary(CanonicalizeContext& c);

/// Puts an Unsqueeze before input `slot` that gives it `count` more dimensions of 1 at its end.
Status add_trailing_dims(CanonicalizeContext& c, size_t slot, int64_t count);

/// The OpDef of such an operator.
OpDef binary_op(const char* name, OpInputs inputs, Status (*infer)(InferContext&), Status (*lower)(LowerContext&), bool follows_blocks);

/// Arithmetic on kTypes.
template <kernels::BinaryOp kOp, DTypeSet kTypes>
OpDef arithmetic(const char* name, bool follows_blocks) {
  OpDef op = binary_op(name, "A, B", infer_binary<kTypes, false>, lower_binary<kOp>, follows_blocks);
  set_types(op, kTypes);
  return op;
}

/// A comparison or logical function: the result is bool.
template <kernels::BinaryOp kOp, DTypeSet kTypes>
OpDef predicate(const char* name) {
  OpDef op = binary_op(name, "A, B", infer_binary<kTypes, true>, lower_binary<kOp>, false);
  set_types(op, kTypes);
  op.traits.may_overwrite = false;
  return op;
}

/// The OpDef of Sum, Min, Max and Mean.
OpDef variadic_op(const char* name, Status (*infer)(InferContext&), Status (*lower)(LowerContext&));

/// Two and more operands, combined from the left; one is copied.
Status emit_variadic(LowerContext& c, kernels::BinaryOp op);

template <kernels::BinaryOp kOp>
Status lower_variadic(LowerContext& c) {
  return emit_variadic(c, kOp);
}

}  // namespace svengine::ops
