// BitShift: a shifted by b bits, left or right. A negative b, or one of a's width or more, shifts everything out: what is left is the
// sign of a signed a that is shifted right, else 0.
#include "engine/ops/dispatch.h"
#include "engine/ops/element_step.h"
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

Status infer_bit_shift(InferContext& c) {
  const std::string direction = c.attributes().get_string("direction");
  if (direction != "LEFT" && direction != "RIGHT") return error("direction is '{}', needs LEFT or RIGHT", direction);
  return infer_binary<kIntegerTypes, false>(c);
}

template <class T>
T shift(T a, T b, bool left) {
  constexpr T kLast = std::numeric_limits<T>::digits;  // of a signed type, the widest shift that leaves its sign
  using Bits = std::make_unsigned_t<T>;
  const bool out = b < 0 || b > kLast;
  if (left) return out ? T{0} : static_cast<T>(static_cast<Bits>(a) << b);
  return static_cast<T>(a >> (out ? kLast : b));
}

/// The kernels shift unsigned integers.
void emit_signed_shift(LowerContext& c, bool left) {
  const Dims out = c.out_dims();
  const std::vector<int64_t> a_strides = broadcast_strides(c.in_dims(0), out), b_strides = broadcast_strides(c.in_dims(1), out);
  const Buffer a = c.in(0), b = c.in(1), y = c.out();
  with_type(c.out_type().dtype, [&]<class T>() {
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)
      emit_elements(c, "bit_shift", element_count(out), [=](const Run& run, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t at_a = 0, at_b = 0, rest = i;
          for (size_t d = out.size(); d-- > 0; rest /= out[d]) {
            at_a += rest % out[d] * a_strides[d];
            at_b += rest % out[d] * b_strides[d];
          }
          run.get<T>(y)[i] = shift(run.get<const T>(a)[at_a], run.get<const T>(b)[at_b], left);
        }
      });
  });
}

Status lower_bit_shift(LowerContext& c) {
  const bool left = c.attributes().get_string("direction") == "LEFT";
  if (kSignedTypes.has(c.out_type().dtype)) {
    emit_signed_shift(c, left);
    return {};
  }
  return emit_binary(c, left ? kernels::BinaryOp::kShiftLeft : kernels::BinaryOp::kShiftRight, operand_of(c, 0), operand_of(c, 1),
                     result_of(c));
}

}  // namespace

OpDef define_bit_shift() {
  OpDef op = binary_op("BitShift", "X, Y", infer_bit_shift, lower_bit_shift, false);
  op.since = 11;
  op.attributes = {{"direction", AttributeKind::kString, true}};
  op.samples = R"((uint8[3, 9] 0 to 255, uint8[9] 0 to 9) {direction = "LEFT"})"
               R"((uint32[19] 0 to 1000000000, uint32[] 0 to 31) {direction = "RIGHT"})"
               R"((int8[3, 9] -99 to 99, int8[9] -2 to 9) {direction = "LEFT"})"
               R"((int16[4, 1] -999 to 999, int16[1, 3] -2 to 17) {direction = "RIGHT"})"
               R"((int32[7] -1000000000 to 1000000000, int32[] 0 to 31) {direction = "RIGHT"})"
               R"((int64[5] -1000000000000000 to 1000000000000000, int64[5] -2 to 70) {direction = "LEFT"})";
  op.types = {{"T", kIntegerTypes, {0, 1}}};
  return op;
}

}  // namespace svengine::ops
