// BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot: bit by bit on integers.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

template <kernels::BinaryOp kOp>
OpDef bitwise_binary(const char* name) {
  OpDef op = arithmetic<kOp, kIntegerTypes>(name, false);
  op.since = 18;
  op.canonicalize = nullptr;
  op.samples = "(uint8[3, 37] 0 to 255, uint8[37] 0 to 255)"
               "(int8[5, 1] -99 to 99, int8[1, 3] -99 to 99)"
               "(uint16[19] 0 to 60000, uint16[] 0 to 60000)"
               "(int16[4, 1, 3] -999 to 999, int16[5, 1] -999 to 999)"
               "(uint32[33] 0 to 4000000000, uint32[33] 0 to 4000000000)"
               "(int32[0, 3], int32[1, 3])"
               "(uint64[2, 9] 0 to 1000000000000000.0, uint64[2, 9] 0 to 1000000000000000.0)"
               "(int64[] -1000000000000000.0 to 1000000000000000.0, int64[] -1000000000000000.0 to 1000000000000000.0)";
  return op;
}

}  // namespace

OpDef define_bitwise_and() { return bitwise_binary<kernels::BinaryOp::kBitwiseAnd>("BitwiseAnd"); }

OpDef define_bitwise_or() { return bitwise_binary<kernels::BinaryOp::kBitwiseOr>("BitwiseOr"); }

OpDef define_bitwise_xor() { return bitwise_binary<kernels::BinaryOp::kBitwiseXor>("BitwiseXor"); }

OpDef define_bitwise_not() {
  OpDef op = plain_unary<kernels::UnaryOp::kBitwiseNot, kIntegerTypes>("BitwiseNot", "X", false);
  op.since = 18;
  op.samples = "(uint8[3, 37] 0 to 255)"
               "(int8[5] -99 to 99)"
               "(uint16[2, 9] 0 to 60000)"
               "(int16[] -999 to 999)"
               "(uint32[1003] 0 to 4000000000)"
               "(int32[0, 3])"
               "(uint64[1, 2, 3] 0 to 1000000000000000)"
               "(int64[33] -1000000000000000 to 1000000000000000)";
  return op;
}

}  // namespace svengine::ops
