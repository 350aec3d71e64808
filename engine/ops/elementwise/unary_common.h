// Operators that are one function of one tensor, element by element.
#pragma once
#include "engine/base/narrow_float.h"
#include "engine/graph/transposed_node.h"
#include "engine/kernels/elementwise.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// Elements as stored: padding lanes of blocked values count.
int64_t stored_count(const Type& type);

/// y = op(x) over all stored elements of input 0. `args` gives op and parameters. What float64 has no kernel for is computed by the formula.
void emit_unary(LowerContext& c, const char* kernel, kernels::UnaryArgs args);

/// `count` elements of one type become another.
void emit_cast(LowerContext& c, Buffer in, DType from, Buffer out, DType to, int64_t count, ByteFloatRules rules = {});

/// Memory with the elements in another type: the same when the types are equal, else a temporary that is filled here.
Buffer converted(LowerContext& c, Buffer from, DType type, DType to, int64_t count);

/// Output of the input's type and shape, for inputs of the given types.
template <DTypeSet kTypes>
Status infer_unary(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kTypes));
  c.set(0, c.type(0));
  return {};
}

/// The OpDef of such an operator; blocked layouts are followed when `finite` (finite inputs give finite results, so that
/// padding lanes stay harmless).
OpDef unary_op(const char* name, OpInputs inputs, Status (*infer)(InferContext&), Status (*lower)(LowerContext&), bool finite);

/// The one type parameter of all inputs, and tiny samples of types that float32's samples say nothing of.
void set_types(OpDef& op, DTypeSet types);

template <kernels::UnaryOp kOp>
Status lower_unary(LowerContext& c) {
  emit_unary(c, c.node().op().name, {.op = kOp});
  return {};
}

/// The same with attribute alpha, and beta, as parameters.
template <kernels::UnaryOp kOp>
Status lower_unary_ab(LowerContext& c) {
  const auto value_of = [&](size_t i) {
    const std::vector<AttributeDef>& defs = c.node().op().attributes;
    return i < defs.size() ? c.attributes().get_float(defs[i].name, *defs[i].default_value.get<float>()) : 0.0f;
  };
  emit_unary(c, c.node().op().name, {.op = kOp, .alpha = value_of(0), .beta = value_of(1)});
  return {};
}

/// A function without parameters.
template <kernels::UnaryOp kOp, DTypeSet kTypes = kRealTypes>
OpDef plain_unary(const char* name, OpInputs inputs, bool finite) {
  OpDef op = unary_op(name, inputs, infer_unary<kTypes>, lower_unary<kOp>, finite);
  set_types(op, kTypes);
  return op;
}

/// A function of x and the float attributes given, in the order the kernel takes them: alpha, beta.
template <kernels::UnaryOp kOp>
OpDef unary_with(const char* name, OpInputs inputs, bool finite, std::vector<AttributeDef> attributes) {
  OpDef op = unary_op(name, inputs, infer_unary<kRealTypes>, lower_unary_ab<kOp>, finite);
  set_types(op, kRealTypes);
  op.attributes = std::move(attributes);
  return op;
}

}  // namespace svengine::ops
