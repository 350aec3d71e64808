// Reductions by the formulas of reduce.h, one output at a time: floats in double, integers modulo 2^64, of which their own width
// is the low part.
#include "engine/kernels/reference/set/reduce.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"
#include "engine/kernels/reference/set/walk.h"

namespace svengine::kernels::reference {
namespace {

/// The dimensions kept, or those reduced over, with x's strides.
Walk<1> walk_of(const ReduceArgs& args, bool reduced) {
  int64_t stride[kReduceDims] = {}, product = 1;
  for (int d = args.rank - 1; d >= 0; product *= args.extent[d], --d) stride[d] = product;
  Walk<1> walk;
  for (int d = 0; d < args.rank; ++d)
    if (args.reduced[d] == reduced) walk.add(args.extent[d], {stride[d]});
  return walk;
}

/// The terms of one output.
template <class T>
struct Terms {
  const T* from;
  Walk<1> walk;
  int64_t count;

  template <class A, class Join>
  A joined(A total, const Join& join) {
    for_each_position(walk, 0, count, [&](int64_t, const Walk<1>& at) { total = join(total, from[at.offset()]); });
    return total;
  }
};

/// The largest or the smallest; NaN if there is one.
template <class T>
T extreme(Terms<T>& terms, bool largest) {
  using Limits = std::numeric_limits<T>;
  constexpr bool kFloat = std::is_floating_point_v<T>;
  const T start = largest ? (kFloat ? -Limits::infinity() : Limits::lowest()) : (kFloat ? Limits::infinity() : Limits::max());
  return terms.joined(start, [=](T best, T x) { return best != best || (largest ? x <= best : x >= best) ? best : x; });
}

/// A double as an element. Integers are truncated and kept in their range; NaN and -infinity, logarithms of 0 and less, are the
/// lowest.
template <class T>
T element_of(double x) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(x);
  else if (!(x > static_cast<double>(Limits::lowest())))
    return Limits::lowest();
  else
    return x < static_cast<double>(Limits::max()) ? static_cast<T>(x) : Limits::max();
}

template <class T>
T log_sum_exp(Terms<T>& terms) {
  const auto most = static_cast<double>(extreme(terms, true)), shift = std::isinf(most) ? 0 : most;
  const double sum = terms.joined(0.0, [=](double s, T x) { return s + std::exp(static_cast<double>(x) - shift); });
  return element_of<T>(std::log(sum) + shift);
}

template <class T>
T result_of(const ReduceArgs& args, Terms<T>& terms) {
  using A = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  switch (args.op) {
    case ReduceOp::kSum:
      return static_cast<T>(terms.joined(A(0), [](A s, T x) { return s + static_cast<A>(x); }));
    case ReduceOp::kMean: {
      const A sum = terms.joined(A(0), [](A s, T x) { return s + static_cast<A>(x); });
      if constexpr (std::is_floating_point_v<T>)
        return static_cast<T>(sum / static_cast<double>(terms.count));
      else
        return terms.count == 0 ? T(0) : static_cast<T>(static_cast<int64_t>(sum) / terms.count);
    }
    case ReduceOp::kMax:
      return extreme(terms, true);
    case ReduceOp::kMin:
      return extreme(terms, false);
    case ReduceOp::kProd:
      return static_cast<T>(terms.joined(A(1), [](A s, T x) { return s * static_cast<A>(x); }));
    case ReduceOp::kL1:
      return static_cast<T>(
          terms.joined(A(0), [](A s, T x) { return s + (x < 0 ? A(0) - static_cast<A>(x) : static_cast<A>(x)); }));
    case ReduceOp::kSumSquare:
      return static_cast<T>(terms.joined(A(0), [](A s, T x) { return s + static_cast<A>(x) * static_cast<A>(x); }));
    case ReduceOp::kL2:
      return element_of<T>(
          std::sqrt(terms.joined(0.0, [](double s, T x) { return s + static_cast<double>(x) * static_cast<double>(x); })));
    case ReduceOp::kLogSum:
      return element_of<T>(std::log(terms.joined(0.0, [](double s, T x) { return s + static_cast<double>(x); })));
    case ReduceOp::kLogSumExp:
      return log_sum_exp(terms);
  }
  return 0;
}

int64_t items(const ReduceArgs& args) { return walk_of(args, false).positions(); }

void range(const ReduceArgs& args, int64_t begin, int64_t end, void*) {
  visit_element(args.type, [&]<class T>(T) {
    Walk<1> kept = walk_of(args, false);
    const Walk<1> reduced = walk_of(args, true);
    for_each_position(kept, begin, end, [&](int64_t i, const Walk<1>& at) {
      Terms<T> terms{static_cast<const T*>(args.x) + at.offset(), reduced, reduced.positions()};
      static_cast<T*>(args.y)[i] = result_of(args, terms);
    });
  });
}

}  // namespace

extern const ReduceKernels reduce_kernels;
constinit const ReduceKernels reduce_kernels{by_items<ReduceArgs, items, range, 1>(),
                                             by_items<ArgReduceArgs, arg_items, arg_range, 1>(),
                                             by_items<CumSumArgs, cumulative_items, cumulative_range, 1>(),
                                             by_items<TopKArgs, top_k_items, top_k_range, 1>(top_k_scratch_bytes)};

}  // namespace svengine::kernels::reference
