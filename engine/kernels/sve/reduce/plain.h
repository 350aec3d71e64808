// What reductions of double, int32 and int64 add up or join, and what becomes of it.
#pragma once
#include "engine/kernels/sve/math/f64.h"
#include "engine/kernels/sve/reduce/items.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {
namespace {

constexpr int kAccumulators = 16;

constexpr bool in_double(ReduceOp op) {
  return op == ReduceOp::kL2 || op == ReduceOp::kLogSum || op == ReduceOp::kLogSumExp;
}

template <class T>
struct Limits;
template <>
struct Limits<double> {
  static constexpr double kLowest = -__builtin_inf(), kHighest = __builtin_inf();
  static constexpr bool kFloat = true;
};
template <>
struct Limits<int32_t> {
  static constexpr int32_t kLowest = INT32_MIN, kHighest = INT32_MAX;
  static constexpr bool kFloat = false;
};
template <>
struct Limits<int64_t> {
  static constexpr int64_t kLowest = INT64_MIN, kHighest = INT64_MAX;
  static constexpr bool kFloat = false;
};

template <bool kFirst, class A, class B>
struct Choose {
  using Type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
  using Type = B;
};

// Accumulator: integers are added and multiplied modulo 2^64, which agrees with their own width.
template <ReduceOp kOp, class T>
using Accumulator =
    typename Choose<Limits<T>::kFloat || in_double(kOp), double,
                    typename Choose<kOp == ReduceOp::kMax || kOp == ReduceOp::kMin, T, uint64_t>::Type>::Type;

// What has the same totals, so that there are fewer functions.
template <ReduceOp kOp, class T>
constexpr ReduceOp kTotalOf = kOp == ReduceOp::kMean || (kOp == ReduceOp::kLogSum && Limits<T>::kFloat) ? ReduceOp::kSum
                              : kOp == ReduceOp::kL2 && Limits<T>::kFloat                             ? ReduceOp::kSumSquare
                                                                                                      : kOp;

template <ReduceOp kOp, class T>
constexpr Accumulator<kOp, T> identity() {
  if constexpr (kOp == ReduceOp::kMax)
    return Limits<T>::kLowest;
  else if constexpr (kOp == ReduceOp::kMin)
    return Limits<T>::kHighest;
  else
    return kOp == ReduceOp::kProd ? 1 : 0;
}

// What is added up or joined of an element, but for kLogSumExp.
template <ReduceOp kOp, class T>
SVENGINE_INLINE Accumulator<kOp, T> term(T x) {
  using A = Accumulator<kOp, T>;
  if constexpr (kOp == ReduceOp::kL1)
    return x < 0 ? A(0) - A(x) : A(x);
  else if constexpr (kOp == ReduceOp::kL2 || kOp == ReduceOp::kSumSquare)
    return A(x) * A(x);
  else
    return A(x);
}

template <ReduceOp kOp, class A>
SVENGINE_INLINE A join(A a, A b) {
  if constexpr (kOp == ReduceOp::kMax)
    return a > b || a != a ? a : b;
  else if constexpr (kOp == ReduceOp::kMin)
    return a < b || a != a ? a : b;
  else if constexpr (kOp == ReduceOp::kProd)
    return a * b;
  else
    return a + b;
}

template <ReduceOp kOp, class T>
T finish(Accumulator<kOp, T> total, [[maybe_unused]] double shift, [[maybe_unused]] int64_t count) {
  if constexpr (kOp == ReduceOp::kMean && Limits<T>::kFloat)
    return total / double(count);
  else if constexpr (kOp == ReduceOp::kMean)
    return count ? T(int64_t(total) / count) : T(0);
  else if constexpr (in_double(kOp)) {
    const double result = kOp == ReduceOp::kL2 ? __builtin_sqrt(total) : __builtin_log(total) + shift;
    if (!Limits<T>::kFloat && !(result > double(Limits<T>::kLowest))) return Limits<T>::kLowest;  // log(0)
    if (!Limits<T>::kFloat && result >= double(Limits<T>::kHighest)) return Limits<T>::kHighest;
    return T(result);
  } else {
    return T(total);
  }
}

double finite_shift(double maximum) { return __builtin_isinf(maximum) ? 0 : maximum; }

}  // namespace
}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
