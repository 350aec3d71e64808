// What depends on the order along a line: positions of extremes, cumulative sums, top-k.
#include <algorithm>
#include <numeric>
#include <type_traits>

#include "engine/kernels/reference/set/reduce.h"
#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"

namespace svengine::kernels::reference {
namespace {

/// Whether a comes before b; NaN comes before everything, or after it.
template <class T>
bool better(T a, T b, bool largest, bool nan_is_best) {
  if (a != a || b != b) return nan_is_best ? a != a && b == b : a == a && b != b;
  return largest ? a > b : a < b;
}

}  // namespace

int64_t arg_items(const ArgReduceArgs& args) { return args.outer * args.inner; }

void arg_range(const ArgReduceArgs& args, int64_t begin, int64_t end, void*) {
  visit_element(args.type, [&]<class T>(T) {
    for (int64_t line = begin; line < end; ++line) {
      const T* x = static_cast<const T*>(args.x) + line / args.inner * args.n * args.inner + line % args.inner;
      int64_t best = 0;
      for (int64_t i = 1; i < args.n; ++i) {
        const T a = x[i * args.inner], b = x[best * args.inner];
        if (better(a, b, args.largest, true) || (args.select_last && !better(b, a, args.largest, true))) best = i;
      }
      args.y[line] = best;
    }
  });
}

int64_t cumulative_items(const CumSumArgs& args) { return args.outer * args.inner; }

void cumulative_range(const CumSumArgs& args, int64_t begin, int64_t end, void*) {
  visit_element(args.type, [&]<class T>(T) {
    using A = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;  // integers wrap
    for (int64_t line = begin; line < end; ++line) {
      const int64_t first = line / args.inner * args.n * args.inner + line % args.inner;
      A sum = 0;
      for (int64_t k = 0; k < args.n; ++k) {
        const int64_t at = first + (args.reverse ? args.n - 1 - k : k) * args.inner;
        const A before = sum;
        sum += static_cast<A>(static_cast<const T*>(args.x)[at]);
        static_cast<T*>(args.y)[at] = static_cast<T>(args.exclusive ? before : sum);
      }
    }
  });
}

int64_t top_k_items(const TopKArgs& args) { return args.k > 0 ? args.outer * args.inner : 0; }
int64_t top_k_scratch_bytes(const TopKArgs& args) noexcept { return args.n * int64_t(sizeof(int64_t)); }

void top_k_range(const TopKArgs& args, int64_t begin, int64_t end, void* scratch) {
  int64_t* order = static_cast<int64_t*>(scratch);
  visit_element(args.type, [&]<class T>(T) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t o = line / args.inner, i = line % args.inner;
      const T* x = static_cast<const T*>(args.x) + o * args.n * args.inner + i;
      std::iota(order, order + args.n, int64_t{0});
      // A NaN is larger than everything: the best of the largest, the worst of the smallest.
      std::partial_sort(order, order + args.k, order + args.n, [&](int64_t a, int64_t b) {
        const T left = x[a * args.inner], right = x[b * args.inner];
        if (better(left, right, args.largest, args.largest)) return true;
        return a < b && !better(right, left, args.largest, args.largest);
      });
      for (int64_t k = 0; k < args.k; ++k) {
        const int64_t to = (o * args.k + k) * args.inner + i;
        args.indices[to] = order[k];
        static_cast<T*>(args.values)[to] = x[order[k] * args.inner];
      }
    }
  });
}

}  // namespace svengine::kernels::reference
