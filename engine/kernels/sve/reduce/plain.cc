// Reductions of double, int32 and int64, in loops over a fixed number of accumulators that the compiler vectorises.
#include "engine/kernels/sve/reduce/shape.h"

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

template <ReduceOp kOp, class T>
constexpr Accumulator<kOp, T> identity() {
  if constexpr (kOp == ReduceOp::kMax)
    return Limits<T>::kLowest;
  else if constexpr (kOp == ReduceOp::kMin)
    return Limits<T>::kHighest;
  else
    return kOp == ReduceOp::kProd ? 1 : 0;
}

template <ReduceOp kOp, class T>
SVENGINE_INLINE Accumulator<kOp, T> term(T x, [[maybe_unused]] double shift) {
  using A = Accumulator<kOp, T>;
  if constexpr (kOp == ReduceOp::kL1)
    return x < 0 ? A(0) - A(x) : A(x);
  else if constexpr (kOp == ReduceOp::kL2 || kOp == ReduceOp::kSumSquare)
    return A(x) * A(x);
  else if constexpr (kOp == ReduceOp::kLogSumExp)
    return __builtin_exp(double(x) - shift);
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

template <ReduceOp kOp, class T>
Accumulator<kOp, T> line_total(ReduceShape& shape, const T* x, double shift) {
  using A = Accumulator<kOp, T>;
  A acc[kAccumulators];
  for (A& a : acc) a = identity<kOp, T>();
  shape.for_runs([&](int64_t offset) {
    const T* from = x + offset;
    int64_t i = 0;
    for (; i + kAccumulators <= shape.run; i += kAccumulators)
      for (int u = 0; u < kAccumulators; ++u) acc[u] = join<kOp>(acc[u], term<kOp, T>(from[i + u], shift));
    for (int u = 0; i < shape.run; ++i, ++u) acc[u] = join<kOp>(acc[u], term<kOp, T>(from[i], shift));
  });
  for (int width = kAccumulators / 2; width > 0; width /= 2)
    for (int u = 0; u < width; ++u) acc[u] = join<kOp>(acc[u], acc[u + width]);
  return acc[0];
}

template <ReduceOp kOp, class T>
T reduce_line(ReduceShape& shape, const T* x) {
  double shift = 0;
  if constexpr (kOp == ReduceOp::kLogSumExp) shift = finite_shift(double(line_total<ReduceOp::kMax, T>(shape, x, 0)));
  return finish<kOp, T>(line_total<kOp, T>(shape, x, shift), shift, shape.count());
}

template <ReduceOp kOp, class T>
void column_totals(ReduceShape& shape, const T* x, int64_t columns, const double* shift, Accumulator<kOp, T>* total) {
  for (int64_t c = 0; c < columns; ++c) total[c] = identity<kOp, T>();
  shape.for_runs([&](int64_t offset) {
    for (int64_t r = 0; r < shape.run; ++r) {
      const T* from = x + offset + r * shape.run_stride;
      for (int64_t c = 0; c < columns; ++c) total[c] = join<kOp>(total[c], term<kOp, T>(from[c], shift[c]));
    }
  });
}

template <ReduceOp kOp, class T>
void reduce_columns(ReduceShape& shape, const T* x, T* y, int64_t columns) {
  double shift[kReduceColumns] = {};
  if constexpr (kOp == ReduceOp::kLogSumExp) {
    Accumulator<ReduceOp::kMax, T> maximum[kReduceColumns];
    column_totals<ReduceOp::kMax, T>(shape, x, columns, shift, maximum);
    for (int64_t c = 0; c < columns; ++c) shift[c] = finite_shift(double(maximum[c]));
  }
  Accumulator<kOp, T> total[kReduceColumns];
  column_totals<kOp, T>(shape, x, columns, shift, total);
  for (int64_t c = 0; c < columns; ++c) y[c] = finish<kOp, T>(total[c], shift[c], shape.count());
}

template <ReduceOp kOp, class T>
void reduce_items(const ReduceArgs& args, ReduceShape& shape, int64_t begin, int64_t end) {
  const T* x = static_cast<const T*>(args.x);
  T* y = static_cast<T*>(args.y);
  if (begin >= end) return;
  shape.kept.seek(begin / shape.column_chunks);
  for (int64_t item = begin; item < end; ++item) {
    const T* from = x + shape.kept.offset(0);
    if (shape.lines) {
      y[item] = reduce_line<kOp, T>(shape, from);
    } else {
      const int64_t chunk = item % shape.column_chunks, first = chunk * kReduceColumns;
      reduce_columns<kOp, T>(shape, from + first, y + item / shape.column_chunks * shape.columns + first,
                             smaller(kReduceColumns, shape.columns - first));
      if (chunk + 1 < shape.column_chunks) continue;
    }
    shape.kept.next();
  }
}

}  // namespace

void reduce_plain(const ReduceArgs& args, ReduceShape& shape, int64_t begin, int64_t end) {
  dispatch_reduce(args.op, [&]<ReduceOp kOp>() {
    if (args.type == DType::f64)
      reduce_items<kOp, double>(args, shape, begin, end);
    else if (args.type == DType::i32)
      reduce_items<kOp, int32_t>(args, shape, begin, end);
    else
      reduce_items<kOp, int64_t>(args, shape, begin, end);
  });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
