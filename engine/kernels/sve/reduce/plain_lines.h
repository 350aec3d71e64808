// Lines of double, int32 and int64: one alone, or as many short ones at a time as a vector has 64-bit lanes, with the same bits.
#pragma once
#include "engine/kernels/sve/line_folds.h"
#include "engine/kernels/sve/reduce/plain.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {
namespace {

// Elements of a line that is short. In 64 bits 32-bit integers are twice the vectors, whose comparisons AVX2 has no maximum for.
template <ReduceOp kOp, class T>
constexpr int64_t kShort = sizeof(T) == 4 && (kOp == ReduceOp::kMax || kOp == ReduceOp::kMin) ? 4 * kLanes : 4 * kAccumulators;
constexpr int kFewLines = 2;  // so many go one by one, in less than a fold
constexpr int kWideLanes = kLanesOf<int64_t>;
static_assert(kAccumulators % kWideLanes == 0);

// What lines are computed in: doubles, or integers of any width in 64 bits.
template <ReduceOp kOp, class T>
using Wide = typename Choose<Limits<T>::kFloat || in_double(kOp), double, int64_t>::Type;

SVENGINE_INLINE vl load_integers(vb p, const int64_t* x) { return svld1(p, x); }
SVENGINE_INLINE vl load_integers(vb p, const int32_t* x) { return svld1sw_s64(p, x); }
template <class W, class T>
SVENGINE_INLINE Vec<W> load_wide(vb p, const T* x) {
  if constexpr (Limits<T>::kFloat)
    return svld1(p, x);
  else if constexpr (Limits<W>::kFloat)
    return svcvt_f64_x(svptrue_b64(), load_integers(p, x));
  else
    return load_integers(p, x);
}

template <ReduceOp kOp, class V>
SVENGINE_INLINE V wide_term(V x, [[maybe_unused]] double shift) {
  const vb all = svptrue_b64();
  if constexpr (kOp == ReduceOp::kL1)
    return svsel(svcmplt(all, x, 0), svneg_x(all, x), x);
  else if constexpr (kOp == ReduceOp::kSumSquare || kOp == ReduceOp::kL2)
    return svmul_x(all, x, x);
  else if constexpr (kOp == ReduceOp::kLogSumExp)
    return vexp_f64(vsub(x, vdup(shift)));
  else
    return x;
}

// `better`, or a is NaN.
template <class V>
SVENGINE_INLINE vb first_of(vb better, [[maybe_unused]] V a) {
  if constexpr (__is_same(V, vd))
    return svorr_z(svptrue_b64(), better, svcmpne(svptrue_b64(), a, a));
  else
    return better;
}

template <ReduceOp kOp, class V>
SVENGINE_INLINE V wide_join(V a, V b) {
  const vb all = svptrue_b64();
  if constexpr (kOp == ReduceOp::kMax)
    return svsel(first_of<V>(svcmpgt(all, a, b), a), a, b);
  else if constexpr (kOp == ReduceOp::kMin)
    return svsel(first_of<V>(svcmplt(all, a, b), a), a, b);
  else if constexpr (kOp == ReduceOp::kProd)
    return svmul_x(all, a, b);
  else
    return svadd_x(all, a, b);
}

// The runs that `for_runs(f)` calls f(x, n) with, joined in kU vectors: element i of a run in lane i modulo their lanes.
template <ReduceOp kOp, class T, int kU, class Runs>
SVENGINE_INLINE Vec<Wide<kOp, T>> joined_runs([[maybe_unused]] double shift, const Runs& for_runs) {
  using W = Wide<kOp, T>;
  using V = Vec<W>;
  const vb all = svptrue_b64();
  V acc[kU];
  for (V& a : acc) a = repeated<W>(W(identity<kOp, T>()));
  for_runs([&](const T* x, int64_t n) SVENGINE_INLINE_LAMBDA {
    const auto value = [=](vb p, int64_t i) SVENGINE_INLINE_LAMBDA -> V { return wide_term<kOp>(load_wide<W>(p, x + i), shift); };
    int64_t i = 0;
    for (; i + kU * kWideLanes <= n; i += kU * kWideLanes) {
      SVENGINE_UNROLL
      for (int u = 0; u < kU; ++u) acc[u] = wide_join<kOp>(acc[u], value(all, i + u * kWideLanes));
    }
    if (i == n) return;
    SVENGINE_UNROLL
    for (int u = 0; u < kU; ++u) {
      const vb p = svwhilelt_b64(i + u * kWideLanes, n);
      acc[u] = svsel(p, wide_join<kOp>(acc[u], value(p, i + u * kWideLanes)), acc[u]);
    }
  });
  SVENGINE_UNROLL
  for (int width = kU / 2; width > 0; width /= 2)
    for (int u = 0; u < width; ++u) acc[u] = wide_join<kOp>(acc[u], acc[u + width]);
  return acc[0];
}

constexpr int kJoinedVectors = kAccumulators / kWideLanes;

/// Of one line: its runs in kAccumulators accumulators, which are then joined by halves. The compiler vectorises 32-bit integers, whose long
/// lines would take up to twice as long in 64 bits on AVX2.
template <ReduceOp kOp, class T>
[[gnu::noinline]] Wide<kOp, T> line_total(ReduceShape& shape, const T* x, [[maybe_unused]] double shift) {
  if constexpr (sizeof(T) == 4 && kOp != ReduceOp::kLogSumExp) {
    using A = Accumulator<kOp, T>;
    A acc[kAccumulators];
    for (A& a : acc) a = identity<kOp, T>();
    shape.for_runs([&](int64_t offset) {
      const T* from = x + offset;
      int64_t i = 0;
      for (; i + kAccumulators <= shape.run; i += kAccumulators)
        for (int u = 0; u < kAccumulators; ++u) acc[u] = join<kOp>(acc[u], term<kOp, T>(from[i + u]));
      for (int u = 0; i < shape.run; ++i, ++u) acc[u] = join<kOp>(acc[u], term<kOp, T>(from[i]));
    });
    for (int width = kAccumulators / 2; width > 0; width /= 2)
      for (int u = 0; u < width; ++u) acc[u] = join<kOp>(acc[u], acc[u + width]);
    return Wide<kOp, T>(acc[0]);
  } else {
    using A = Accumulator<kOp, T>;
    Wide<kOp, T> lanes[kWideLanes];
    const auto runs = [&](const auto& f) SVENGINE_INLINE_LAMBDA {
      shape.for_runs([&](int64_t offset) SVENGINE_INLINE_LAMBDA { f(x + offset, shape.run); });
    };
    svst1(svptrue_b64(), lanes, joined_runs<kOp, T, kJoinedVectors>(shift, runs));
    for (int width = kWideLanes / 2; width > 0; width /= 2)
      for (int i = 0; i < width; ++i) lanes[i] = Wide<kOp, T>(join<kOp>(A(lanes[i]), A(lanes[i + width])));
    return lanes[0];
  }
}

constexpr int64_t kGathered = 4;  // elements of a line of 64-bit ones that goes beside others, a lane each

// total[r] = line_total() of contiguous line r of `lines`, of at most kGathered elements: the same in the same order.
template <ReduceOp kOp, class T>
[[gnu::noinline]] void gathered_totals(const T* x, int64_t n, int lines, T* total) {
  const vb p = lanes_below<T>(0, lines);
  const vl places = svindex_s64(0, n);
  const auto term_of = [=](int64_t j) SVENGINE_INLINE_LAMBDA -> Vec<T> {
    return wide_term<kOp>(Vec<T>(svld1_gather_index(p, x + j, places)), 0);
  };
  Vec<T> even = repeated<T>(T(identity<kOp, T>())), odd = even;
  for (int64_t j = 0; j < n; j += 2) {
    even = wide_join<kOp>(even, term_of(j));
    if (j + 1 < n) odd = wide_join<kOp>(odd, term_of(j + 1));
  }
  svst1(p, total, wide_join<kOp>(even, odd));
}

// total[r] = line_total() of contiguous line r of `lines`. kU = 1 for those of one vector.
template <ReduceOp kOp, class T, int kU>
[[gnu::noinline]] void short_totals(const T* x, int64_t n, int lines, [[maybe_unused]] const double* shift,
                                    LineVectors<Wide<kOp, T>>& partial, Wide<kOp, T>* total) {
  using V = Vec<Wide<kOp, T>>;
  for (int r = 0; r < lines; ++r) {
    const auto line = [=](const auto& f) SVENGINE_INLINE_LAMBDA { f(x + r * n, n); };
    svst1(svptrue_b64(), partial.line(r), joined_runs<kOp, T, kU>(shift[r], line));
  }
  const auto op = [](V a, V b) SVENGINE_INLINE_LAMBDA -> V { return wide_join<kOp>(a, b); };
  svst1(svptrue_b64(), total, fold<FoldOrder::kHalves>(partial, op));
}

template <ReduceOp kOp, class T>
SVENGINE_INLINE void wide_totals(const T* x, int64_t n, int lines, const double* shift, LineVectors<Wide<kOp, T>>& partial,
                                 Wide<kOp, T>* total) {
  constexpr bool kRare = !Limits<T>::kFloat && in_double(kOp);  // one function will do
  if constexpr (sizeof(T) == 8 && !kRare && kOp != ReduceOp::kLogSumExp) {
    if (n <= kGathered) return gathered_totals<kOp>(x, n, lines, total);
  }
  if (!kRare && n <= kWideLanes)
    short_totals<kOp, T, kRare ? kJoinedVectors : 1>(x, n, lines, shift, partial, total);
  else
    short_totals<kOp, T, kJoinedVectors>(x, n, lines, shift, partial, total);
}

template <ReduceOp kOp, class T>
void reduce_short_lines(const T* x, T* y, int64_t n, int64_t count) {
  constexpr ReduceOp kTotal = kTotalOf<kOp, T>;
  LineVectors<Wide<kTotal, T>> partial;
  for (int64_t first = 0; first < count; first += kWideLanes) {
    const int lines = int(smaller(kWideLanes, count - first));
    double shift[kWideLanes] = {};
    if constexpr (kOp == ReduceOp::kLogSumExp) {
      LineVectors<Wide<ReduceOp::kMax, T>> maxima;
      Wide<ReduceOp::kMax, T> maximum[kWideLanes];
      wide_totals<ReduceOp::kMax>(x + first * n, n, lines, shift, maxima, maximum);
      for (int r = 0; r < lines; ++r) shift[r] = finite_shift(double(maximum[r]));
    }
    Wide<kTotal, T> total[kWideLanes];
    wide_totals<kTotal>(x + first * n, n, lines, shift, partial, total);
    for (int r = 0; r < lines; ++r) y[first + r] = finish<kOp, T>(Accumulator<kOp, T>(total[r]), shift[r], n);
  }
}

}  // namespace
}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
