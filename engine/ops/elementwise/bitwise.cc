// BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot: bit by bit on integers.
#include "engine/ops/elementwise/binary_common.h"

namespace svengine::ops {
namespace {

template <kernels::BinaryOp kOp>
OpDef bitwise_binary(const char* name) {
  OpDef op = arithmetic<kOp, kIntegerTypes>(name, false);
  op.since = 18;
  op.canonicalize = nullptr;
  op.samples = {{.inputs = {any(DType::u8, {3, 37}, 0, 255), any(DType::u8, {37}, 0, 255)}},
                {.inputs = {any(DType::i8, {5, 1}, -99, 99), any(DType::i8, {1, 3}, -99, 99)}},
                {.inputs = {any(DType::u16, {19}, 0, 60000), any(DType::u16, {}, 0, 60000)}},
                {.inputs = {any(DType::i16, {4, 1, 3}, -999, 999), any(DType::i16, {5, 1}, -999, 999)}},
                {.inputs = {any(DType::u32, {33}, 0, 4e9), any(DType::u32, {33}, 0, 4e9)}},
                {.inputs = {any(DType::i32, {0, 3}), any(DType::i32, {1, 3})}},
                {.inputs = {any(DType::u64, {2, 9}, 0, 1e15), any(DType::u64, {2, 9}, 0, 1e15)}},
                {.inputs = {any(DType::i64, {}, -1e15, 1e15), any(DType::i64, {}, -1e15, 1e15)}}};
  return op;
}

}  // namespace

OpDef define_bitwise_and() { return bitwise_binary<kernels::BinaryOp::kBitwiseAnd>("BitwiseAnd"); }

OpDef define_bitwise_or() { return bitwise_binary<kernels::BinaryOp::kBitwiseOr>("BitwiseOr"); }

OpDef define_bitwise_xor() { return bitwise_binary<kernels::BinaryOp::kBitwiseXor>("BitwiseXor"); }

OpDef define_bitwise_not() {
  OpDef op = plain_unary<kernels::UnaryOp::kBitwiseNot, kIntegerTypes>("BitwiseNot", false);
  op.since = 18;
  op.samples = {{.inputs = {any(DType::u8, {3, 37}, 0, 255)}},     {.inputs = {any(DType::i8, {5}, -99, 99)}},
                {.inputs = {any(DType::u16, {2, 9}, 0, 60000)}},   {.inputs = {any(DType::i16, {}, -999, 999)}},
                {.inputs = {any(DType::u32, {1003}, 0, 4e9)}},     {.inputs = {any(DType::i32, {0, 3})}},
                {.inputs = {any(DType::u64, {1, 2, 3}, 0, 1e15)}}, {.inputs = {any(DType::i64, {33}, -1e15, 1e15)}}};
  return op;
}

}  // namespace svengine::ops
