// Functions of two operands: those of floats by the oracle's formulas, those of integers by its rules.
#include <type_traits>

#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/elementwise.h"
#include "engine/kernels/reference/set/elementwise.h"
#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"
#include "engine/kernels/reference/set/walk.h"

namespace svengine::kernels::reference {
namespace {

bool gives_bool(BinaryOp op) { return op >= BinaryOp::kEqual && op <= BinaryOp::kXor; }
bool is_logical(BinaryOp op) { return op >= BinaryOp::kAnd && op <= BinaryOp::kXor; }

Walk<2> walk_of(const Broadcast& b) {
  Walk<2> walk;
  for (int d = 0; d < b.rank; ++d) walk.add(b.size[d], {b.stride[0][d], b.stride[1][d]});
  return walk;
}

}  // namespace

int64_t binary_items(const BinaryArgs& args) { return walk_of(args.broadcast).positions(); }

/// a^n modulo 2^bits by squaring; the oracle's product of n factors would take its time.
template <class T>
T power(T a, T n) {
  if (std::is_signed_v<T> && n < T(0)) return reference_binary_integer(BinaryOp::kPow, a, n);
  uint64_t base = static_cast<uint64_t>(a), result = 1;
  for (uint64_t left = static_cast<uint64_t>(n); left; left /= 2, base *= base)
    if (left % 2) result *= base;
  return static_cast<T>(result);
}

/// What is stored of f(a, b): a number, or whether it is not 0.
template <class T>
auto value_of(const BinaryArgs& args, T a, T b) {
  if constexpr (std::is_same_v<T, Bool>) {
    return reference_binary_integer(args.op, a.value, b.value);
  } else if constexpr (std::is_integral_v<T>) {
    return args.op == BinaryOp::kPow ? power(a, b) : reference_binary_integer(args.op, a, b);
  } else {
    const double value = reference_binary(args.op, double{a}, double{b});
    return std::is_same_v<T, float> ? reference_activation(value, args.activation) : value;
  }
}

void binary_range(const BinaryArgs& args, int64_t begin, int64_t end, void*) {
  visit_type(args.type, [&]<class T>(T) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, Bool>) {
      Walk<2> walk = walk_of(args.broadcast);
      const T *a = static_cast<const T*>(args.a), *b = static_cast<const T*>(args.b);
      for_each_position(walk, begin, end, [&](int64_t i, const Walk<2>& at) {
        const auto value = value_of(args, a[at.offset(0)], b[at.offset(1)]);
        if constexpr (!std::is_same_v<T, Bool>) {
          if (!gives_bool(args.op)) {
            static_cast<T*>(args.y)[i] = static_cast<T>(value);
            return;
          }
        }
        static_cast<uint8_t*>(args.y)[i] = value != 0;
      });
    }
  });
}

bool has_binary(BinaryOp op, DType type) noexcept {
  const bool shift = op >= BinaryOp::kShiftLeft, bitwise = op >= BinaryOp::kBitwiseAnd && !shift;
  switch (type) {
    case DType::f16:
    case DType::bf16:
      return false;
    case DType::boolean:
      return gives_bool(op);
    case DType::f32:
    case DType::f64:
      return !is_logical(op) && !bitwise && !shift;
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
      return !is_logical(op) && !shift;
    default:
      return !is_logical(op);
  }
}

}  // namespace svengine::kernels::reference
