// Binary kernels of the element types that networks seldom compute with: plain loops.
#include "engine/kernels/sve/elementwise/scalar.h"
#include "engine/kernels/sve/elementwise/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

/// kA and kB: whether the operand's columns are contiguous.
template <class T, auto F, class Out, bool kA, bool kB>
[[gnu::flatten]] void plain_rows(const Tile& t) {
  for (int64_t r = 0; r < t.rows; ++r) {
    const T* a = static_cast<const T*>(t.a) + r * t.a_row;
    const T* b = static_cast<const T*>(t.b) + r * t.b_row;
    Out* y = static_cast<Out*>(t.y) + r * t.y_row;
    const int64_t columns = t.columns;
    const T one_a = *a, one_b = *b;
#pragma GCC ivdep  // y is an operand of the same layout or overlaps none
    for (int64_t i = 0; i < columns; ++i) y[i] = F(kA ? a[i] : one_a, kB ? b[i] : one_b);
  }
}

template <class T, auto F, class Out = T>
void plain(const Tile& t) noexcept {
  assert(t.a_column || t.b_column || t.columns == 1);
  if (t.a_column && t.b_column) {
    plain_rows<T, F, Out, true, true>(t);
  } else if (t.a_column) {
    plain_rows<T, F, Out, true, false>(t);
  } else {
    plain_rows<T, F, Out, false, true>(t);
  }
}

/// Functions for which no code gains from vectors: called for each element, strides and all.
template <class T, T (*F)(T, T)>
void one_by_one(const Tile& t) noexcept {
  for (int64_t r = 0; r < t.rows; ++r) {
    const T* a = static_cast<const T*>(t.a) + r * t.a_row;
    const T* b = static_cast<const T*>(t.b) + r * t.b_row;
    T* y = static_cast<T*>(t.y) + r * t.y_row;
    for (int64_t i = 0; i < t.columns; ++i) y[i] = F(a[t.a_column * i], b[t.b_column * i]);
  }
}

/// scalar::divide() of 32-bit integers by a division of doubles, which is exact: there is none of vectors of integers on x86-64.
int32_t divide_words(int32_t a, int32_t b) {
  const bool is_plain = b != 0 && b != -1;
  const int32_t quotient = int32_t(double(a) / double(is_plain ? b : 1));
  return b == -1 ? int32_t(0u - uint32_t(a)) : b == 0 ? 0 : quotient;
}

template <class T>
TileFunction find_comparison(BinaryOp op) {
  switch (op) {
    case BinaryOp::kEqual: return plain<T, scalar::equal<T>, uint8_t>;
    case BinaryOp::kGreater: return plain<T, scalar::greater<T>, uint8_t>;
    case BinaryOp::kLess: return plain<T, scalar::less<T>, uint8_t>;
    case BinaryOp::kGreaterOrEqual: return plain<T, scalar::greater_or_equal<T>, uint8_t>;
    case BinaryOp::kLessOrEqual: return plain<T, scalar::less_or_equal<T>, uint8_t>;
    default: return nullptr;
  }
}

template <class T>
TileFunction find_bitwise(BinaryOp op) {
  switch (op) {
    case BinaryOp::kBitwiseAnd: return plain<T, scalar::bit_and<T>>;
    case BinaryOp::kBitwiseOr: return plain<T, scalar::bit_or<T>>;
    case BinaryOp::kBitwiseXor: return plain<T, scalar::bit_xor<T>>;
    default: break;
  }
  if constexpr (scalar::kIsUnsigned<T>) {
    if (op == BinaryOp::kShiftLeft) return plain<T, scalar::shift_left<T>>;
    if (op == BinaryOp::kShiftRight) return plain<T, scalar::shift_right<T>>;
  }
  return nullptr;
}

/// What even the types with vector code do one by one.
template <class T>
TileFunction find_rare(BinaryOp op) {
  switch (op) {
    case BinaryOp::kDiv: return one_by_one<T, scalar::divide<T>>;
    case BinaryOp::kPow: return one_by_one<T, scalar::power<T>>;
    case BinaryOp::kMod: return one_by_one<T, scalar::mod<T>>;
    case BinaryOp::kFmod: return one_by_one<T, scalar::fmod<T>>;
    case BinaryOp::kPRelu: return plain<T, scalar::prelu<T>>;
    default: return nullptr;
  }
}

template <class T>
TileFunction find_number(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd: return plain<T, scalar::add<T>>;
    case BinaryOp::kSub: return plain<T, scalar::subtract<T>>;
    case BinaryOp::kMul: return plain<T, scalar::multiply<T>>;
    case BinaryOp::kMin: return plain<T, scalar::smaller_of<T>>;
    case BinaryOp::kMax: return plain<T, scalar::larger_of<T>>;
    default: break;
  }
  if (const TileFunction f = find_rare<T>(op)) return f;
  if (const TileFunction f = find_comparison<T>(op)) return f;
  if constexpr (!scalar::kIsFloat<T>) return find_bitwise<T>(op);
  return nullptr;
}

}  // namespace

TileFunction find_binary_plain(BinaryOp op, DType type) noexcept {
  switch (type) {
    case DType::f32: return find_rare<float>(op);
    case DType::i32: return op == BinaryOp::kDiv ? plain<int32_t, divide_words> : find_rare<int32_t>(op);
    case DType::i64: {
      const TileFunction f = find_rare<int64_t>(op);
      return f ? f : find_comparison<int64_t>(op);
    }
    case DType::f64: return find_number<double>(op);
    case DType::i8: return find_number<int8_t>(op);
    case DType::u8: return find_number<uint8_t>(op);
    case DType::i16: return find_number<int16_t>(op);
    case DType::u16: return find_number<uint16_t>(op);
    case DType::u32: return find_number<uint32_t>(op);
    case DType::u64: return find_number<uint64_t>(op);
    case DType::boolean: return find_comparison<uint8_t>(op);
    default: return nullptr;
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
