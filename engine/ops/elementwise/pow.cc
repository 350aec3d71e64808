// Pow: a to the power b, in a's type. The exponent may be of another type; the power is computed in one that holds both.
#include "engine/graph/gradient.h"
#include "engine/ops/element.h"
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

Status infer_pow(InferContext& c) {
  SV_ASSIGN(Shape out, broadcast_inputs(c));
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

DType common_type(DType base, DType exponent) {
  if (base == exponent || kRealTypes.has(base)) return base;
  return kRealTypes.has(exponent) ? DType::f64 : DType::i64;
}

bool is_one_number(const Tensor* exponent, double number) {
  return exponent && exponent->count() == 1 && number_at(exponent->type(), exponent->raw(), 0) == number;
}

Status lower_pow(LowerContext& c) {
  const Operand base = operand_of(c, 0), out = result_of(c);
  if (is_one_number(c.constant(1), 2) && base.dims == out.dims) return emit_binary(c, kernels::BinaryOp::kMul, base, base, out);
  if (is_one_number(c.constant(1), 3) && base.dims == out.dims) {
    const Operand square{c.temporary(element_count(out.dims) * static_cast<int64_t>(size_of(base.type))), base.type, out.dims};
    SV_TRY(emit_binary(c, kernels::BinaryOp::kMul, base, base, square));
    return emit_binary(c, kernels::BinaryOp::kMul, square, base, out);
  }
  const DType type = common_type(base.type, c.in_type(1).dtype);
  const Operand a = converted(c, base, type), b = converted(c, operand_of(c, 1), type);
  if (type == out.type) return emit_binary(c, kernels::BinaryOp::kPow, a, b, out);
  const int64_t count = element_count(out.dims);
  const Operand wide{c.temporary(count * static_cast<int64_t>(size_of(type))), type, out.dims};
  SV_TRY(emit_binary(c, kernels::BinaryOp::kPow, a, b, wide));
  emit_cast(c, wide.buffer, type, out.buffer, out.type, count);
  return {};
}

/// b a^(b - 1) for an exponent of one known element; null where that is 0 everywhere.
Value* known_slope(GradientContext& c, double exponent) {
  Value* base = c.input(0);
  if (exponent == 0) return nullptr;
  if (exponent == 1) return c.scalar(1, base);
  Value* power = exponent == 2 ? base : c.op("Pow", {base, c.scalar(exponent - 1, base)});
  return c.op("Mul", {power, c.scalar(exponent, base)});
}

Status base_gradient(GradientContext& c) {
  Value *base = c.input(0), *exponent = c.input(1);
  if (exponent->is_constant() && exponent->constant().count() == 1) {
    if (Value* slope = known_slope(c, number_at(exponent->type.dtype, exponent->constant().raw(), 0)))
      c.set(0, c.sum_to(c.op("Mul", {c.dy(), slope}), base));
    return {};
  }
  if (exponent->type.dtype != base->type.dtype)
    exponent = c.op("Cast", {exponent}, make_attributes({{"to", static_cast<int64_t>(base->type.dtype)}}));
  // 0 where b is 0, whatever a is.
  Value* slope = c.op("Mul", {exponent, c.op("Pow", {base, c.op("Sub", {exponent, c.scalar(1, base)})})});
  Value* constant = c.op("Equal", {exponent, c.scalar(0, base)});
  c.set(0, c.sum_to(c.op("Where", {constant, c.scalar(0, base), c.op("Mul", {c.dy(), slope})}), base));
  return {};
}

Status pow_gradient(GradientContext& c) {
  if (c.wants(0)) SV_TRY(base_gradient(c));
  if (!c.wants(1)) return {};
  Value *base = c.input(0), *exponent = c.input(1);
  if (exponent->type.dtype != base->type.dtype)
    return error("the exponent is {}, the base {}: a gradient of the exponent needs one type", to_string(exponent->type),
                 to_string(base->type));
  // y log a; where a is 0 (or below, for whole exponents) there is no slope in b.
  Value* positive = c.op("Greater", {base, c.scalar(0, base)});
  Value* logarithm = c.op("Log", {c.op("Where", {positive, base, c.scalar(1, base)})});
  c.set(1, c.sum_to(c.op("Mul", {c.dy(), c.op("Mul", {c.output(), logarithm})}), exponent));
  return {};
}

}  // namespace

OpDef define_pow() {
  OpDef op = binary_op("Pow", "X, Y", infer_pow, lower_pow, false);
  op.samples = "(float32[2, 3, 5] 0.1 to 4, float32[2, 3, 5])"
               "(float32[4, 33], float32[]{2.0})"
               "(float32[4, 33], float32[]{3.0})"
               "(int64[7] -5 to 5, int64[7] 0 to 5)"
               "(float32[7], int64[7] -3 to 5)"
               "(float64[7] 0.1 to 4, uint8[7] 0 to 5)"
               "(int32[7] -5 to 5, float16[7] 0 to 3)"
               "(bfloat16[7] 0.1 to 4, bfloat16[7] 0 to 3)";
  op.gradient = pow_gradient;
  op.types = {{"T", kRealTypes | kIndexTypes, {0}}, {"T1", kNumericTypes, {1}}};
  return op;
}

}  // namespace svengine::ops
