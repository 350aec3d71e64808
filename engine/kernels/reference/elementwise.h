// Elementwise functions one number at a time, by their formulas: the oracle of the elementwise kernels.
#pragma once
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "engine/kernels/elementwise.h"

namespace svengine::kernels {

/// The formula of UnaryOp in double precision. Predicates give 0 or 1; kIsInf looks for both signs.
double reference_unary(UnaryOp op, double x, double alpha = 0, double beta = 0);

/// The formula of BinaryOp in double precision. Comparisons give 0 or 1. Not for logical and bitwise operations.
double reference_binary(BinaryOp op, double a, double b);

/// Calls visit(i, offsets) for every element i of the row-major `output`, with the element offset of each operand, which is
/// contiguous, has the given shape and is broadcast by NumPy's rules.
void reference_broadcast(const std::vector<int64_t>& output, const std::vector<std::vector<int64_t>>& operands,
                         const std::function<void(int64_t, const std::vector<int64_t>&)>& visit);

/// The rules of BinaryOp for integers, in 128 bits where a result could leave 64.
template <class T>
T reference_binary_integer(BinaryOp op, T a, T b) {
  using Wide = unsigned __int128;
  constexpr int kBits = sizeof(T) * 8;
  const auto quotient = [&]() -> T { return b == 0 ? T(0) : std::is_signed_v<T> && b == T(-1) ? T(Wide(0) - Wide(a)) : T(a / b); };
  const auto remainder = [&]() -> T { return b == 0 ? T(0) : T(Wide(a) - Wide(quotient()) * Wide(b)); };
  switch (op) {
    case BinaryOp::kAdd: return T(Wide(a) + Wide(b));
    case BinaryOp::kSub: return T(Wide(a) - Wide(b));
    case BinaryOp::kMul: return T(Wide(a) * Wide(b));
    case BinaryOp::kDiv: return quotient();
    case BinaryOp::kPow: {
      if (std::is_signed_v<T> && b < 0) return a == 1 ? T(1) : a == T(-1) ? (b % 2 == 0 ? T(1) : T(-1)) : T(0);
      T result = 1;
      for (T n = 0; n < b; ++n) result = T(Wide(result) * Wide(a));
      return result;
    }
    case BinaryOp::kMin: return a < b ? a : b;
    case BinaryOp::kMax: return a > b ? a : b;
    case BinaryOp::kMod: {
      const T r = remainder();
      return std::is_signed_v<T> && r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
    }
    case BinaryOp::kFmod: return remainder();
    case BinaryOp::kPRelu: return a < 0 ? T(Wide(a) * Wide(b)) : a;
    case BinaryOp::kEqual: return a == b;
    case BinaryOp::kGreater: return a > b;
    case BinaryOp::kLess: return a < b;
    case BinaryOp::kGreaterOrEqual: return a >= b;
    case BinaryOp::kLessOrEqual: return a <= b;
    case BinaryOp::kAnd: return a && b;
    case BinaryOp::kOr: return a || b;
    case BinaryOp::kXor: return !a != !b;
    case BinaryOp::kBitwiseAnd: return T(a & b);
    case BinaryOp::kBitwiseOr: return T(a | b);
    case BinaryOp::kBitwiseXor: return T(a ^ b);
    case BinaryOp::kShiftLeft: return b >= T(kBits) ? T(0) : T(Wide(a) << int(b));
    case BinaryOp::kShiftRight: return b >= T(kBits) ? T(0) : T(Wide(a) >> int(b));
  }
  return T(0);
}

}  // namespace svengine::kernels
