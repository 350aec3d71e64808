// Binary kernels of int32, int64 and bool in vector code.
#include "engine/kernels/sve/elementwise/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

#define SVENGINE_INTEGER_OP(name, intrinsic)                                                        \
  SVENGINE_INLINE vi name##_i32(vi a, vi b) { return intrinsic(svptrue_b32(), a, b); }               \
  SVENGINE_INLINE vl name##_i64(vl a, vl b) { return intrinsic(svptrue_b64(), a, b); }
SVENGINE_INTEGER_OP(add, svadd_x)
SVENGINE_INTEGER_OP(subtract, svsub_x)
SVENGINE_INTEGER_OP(multiply, svmul_x)
SVENGINE_INTEGER_OP(smaller_of, svmin_x)
SVENGINE_INTEGER_OP(larger_of, svmax_x)
SVENGINE_INTEGER_OP(bit_and, svand_x)
SVENGINE_INTEGER_OP(bit_or, svorr_x)
SVENGINE_INTEGER_OP(bit_xor, sveor_x)
#undef SVENGINE_INTEGER_OP

#define SVENGINE_INTEGER_COMPARE(name, intrinsic) \
  SVENGINE_INLINE vb name(vi a, vi b) { return intrinsic(svptrue_b32(), a, b); }
SVENGINE_INTEGER_COMPARE(equal, svcmpeq)
SVENGINE_INTEGER_COMPARE(greater, svcmpgt)
SVENGINE_INTEGER_COMPARE(less, svcmplt)
SVENGINE_INTEGER_COMPARE(greater_or_equal, svcmpge)
SVENGINE_INTEGER_COMPARE(less_or_equal, svcmple)
#undef SVENGINE_INTEGER_COMPARE

SVENGINE_INLINE vbyte both(vbyte a, vbyte b) { return svand_x(svptrue_b8(), a, b); }
SVENGINE_INLINE vbyte either(vbyte a, vbyte b) { return svorr_x(svptrue_b8(), a, b); }
SVENGINE_INLINE vbyte one_of(vbyte a, vbyte b) { return sveor_x(svptrue_b8(), a, b); }

TileFunction find_i32(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd: return tile<int32_t, add_i32>;
    case BinaryOp::kSub: return tile<int32_t, subtract_i32>;
    case BinaryOp::kMul: return tile<int32_t, multiply_i32>;
    case BinaryOp::kMin: return tile<int32_t, smaller_of_i32>;
    case BinaryOp::kMax: return tile<int32_t, larger_of_i32>;
    case BinaryOp::kBitwiseAnd: return tile<int32_t, bit_and_i32>;
    case BinaryOp::kBitwiseOr: return tile<int32_t, bit_or_i32>;
    case BinaryOp::kBitwiseXor: return tile<int32_t, bit_xor_i32>;
    case BinaryOp::kEqual: return tile<int32_t, equal, uint8_t>;
    case BinaryOp::kGreater: return tile<int32_t, greater, uint8_t>;
    case BinaryOp::kLess: return tile<int32_t, less, uint8_t>;
    case BinaryOp::kGreaterOrEqual: return tile<int32_t, greater_or_equal, uint8_t>;
    case BinaryOp::kLessOrEqual: return tile<int32_t, less_or_equal, uint8_t>;
    default: return nullptr;
  }
}

TileFunction find_i64(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd: return tile<int64_t, add_i64>;
    case BinaryOp::kSub: return tile<int64_t, subtract_i64>;
    case BinaryOp::kMul: return tile<int64_t, multiply_i64>;
    case BinaryOp::kMin: return tile<int64_t, smaller_of_i64>;
    case BinaryOp::kMax: return tile<int64_t, larger_of_i64>;
    case BinaryOp::kBitwiseAnd: return tile<int64_t, bit_and_i64>;
    case BinaryOp::kBitwiseOr: return tile<int64_t, bit_or_i64>;
    case BinaryOp::kBitwiseXor: return tile<int64_t, bit_xor_i64>;
    default: return nullptr;
  }
}

}  // namespace

TileFunction find_binary_integer(BinaryOp op, DType type) noexcept {
  if (type == DType::i32) return find_i32(op);
  if (type == DType::i64) return find_i64(op);
  if (type == DType::boolean) {
    if (op == BinaryOp::kAnd) return tile<uint8_t, both>;
    if (op == BinaryOp::kOr) return tile<uint8_t, either>;
    if (op == BinaryOp::kXor) return tile<uint8_t, one_of>;
  }
  return nullptr;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
