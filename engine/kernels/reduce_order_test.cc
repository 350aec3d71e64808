// Arg-reductions, cumulative sums and top-k: everything that depends on the order of elements.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reduce.h"
#include "engine/kernels/reference/reduce.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace reduce_order_test {
using svengine::DType;
using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

template <class F>
void for_every_set(const F& f) {
  REQUIRE(!tested_kernel_sets().empty());
  for (const KernelTable* set : tested_kernel_sets()) f(*set);
}

template <class T>
constexpr DType element_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::i32;
  else
    return DType::i64;
}

// Few distinct values, so that there are ties; with NaN, both zeros and both infinities, or the extremes of integers.
template <class T>
GuardedBuffer<T> tied_values(int64_t count, unsigned seed) {
  GuardedBuffer<T> x(static_cast<size_t>(count));
  std::mt19937 random(seed);
  using Limits = std::numeric_limits<T>;
  for (T& v : x) {
    const unsigned kind = random() % 37;
    v = static_cast<T>(static_cast<int>(random() % 11) - 5);
    if (kind == 0) v = Limits::has_quiet_NaN ? Limits::quiet_NaN() : Limits::max();
    if (kind == 1) v = Limits::has_infinity ? -Limits::infinity() : Limits::min();
    if (kind == 2 && Limits::has_infinity) v = static_cast<T>(-0.0);
  }
  return x;
}

template <class T>
std::vector<double> line_of(const GuardedBuffer<T>& x, int64_t start, int64_t n, int64_t stride) {
  std::vector<double> line;
  for (int64_t j = 0; j < n; ++j) line.push_back(static_cast<double>(x[start + j * stride]));
  return line;
}

template <class T>
void check_arg(const KernelTable& set, int64_t outer, int64_t n, int64_t inner, unsigned seed) {
  const GuardedBuffer<T> x = tied_values<T>(outer * n * inner, seed);
  for (bool largest : {true, false})
    for (bool last : {false, true}) {
      GuardedBuffer<int64_t> y(static_cast<size_t>(outer * inner));
      run_tasks(set.reduce->arg_reduce,
                ArgReduceArgs{x.data(), y.data(), element_of<T>(), largest, last, outer, n, inner});
      for (int64_t i = 0; i < outer * inner; ++i) {
        const int64_t want = reference_arg(line_of(x, i / inner * n * inner + i % inner, n, inner), largest, last);
        INFO(set.name << " type " << int(element_of<T>()) << " n " << n << " inner " << inner << " largest " << largest
                      << " last " << last);
        REQUIRE(y[i] == want);
      }
      REQUIRE(y.intact());
    }
}

template <class T>
void check_top_k(const KernelTable& set, int64_t outer, int64_t n, int64_t inner, int64_t k, unsigned seed) {
  const GuardedBuffer<T> x = tied_values<T>(outer * n * inner, seed);
  for (bool largest : {true, false}) {
    GuardedBuffer<T> values(static_cast<size_t>(outer * k * inner));
    GuardedBuffer<int64_t> indices(values.size());
    run_tasks(set.reduce->top_k,
              TopKArgs{x.data(), values.data(), indices.data(), element_of<T>(), largest, outer, n, inner, k});
    for (int64_t i = 0; i < outer * inner; ++i) {
      const int64_t start = i / inner * n * inner + i % inner;
      const std::vector<int64_t> want = reference_top_k(line_of(x, start, n, inner), k, largest);
      for (int64_t j = 0; j < k; ++j) {
        const int64_t at = (i / inner * k + j) * inner + i % inner;
        INFO(set.name << " type " << int(element_of<T>()) << " n " << n << " inner " << inner << " k " << k << " j "
                      << j << " largest " << largest);
        REQUIRE(indices[at] == want[j]);
        REQUIRE(std::memcmp(&values[at], &x[start + want[j] * inner], sizeof(T)) == 0);
      }
    }
    REQUIRE((values.intact() && indices.intact()));
  }
}

template <class T>
void check_cumulative(const KernelTable& set, int64_t outer, int64_t n, int64_t inner) {
  GuardedBuffer<T> x(static_cast<size_t>(outer * n * inner)), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(static_cast<int64_t>(i * 7919 % 101) - 50);
  for (bool exclusive : {false, true})
    for (bool reverse : {false, true}) {
      run_tasks(set.reduce->cumulative_sum,
                CumSumArgs{x.data(), y.data(), element_of<T>(), exclusive, reverse, outer, n, inner});
      for (int64_t i = 0; i < outer * inner; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          const int64_t at = i / inner * n * inner + (reverse ? n - 1 - j : j) * inner + i % inner;
          const double before = sum;
          sum += static_cast<double>(x[at]);
          REQUIRE(static_cast<double>(y[at]) == (exclusive ? before : sum));
        }
      }
      REQUIRE(y.intact());
    }
}

}  // namespace

TEST_CASE("arg max and arg min, first and last") {
  for_every_set([](const KernelTable& set) {
    for (int64_t n = 1; n <= 4 * set.lanes + 1; ++n) {
      check_arg<float>(set, 3, n, 1, 1);
      check_arg<int32_t>(set, 2, n, 1, 2);
    }
    for (int64_t n : {1, 2, 3, 7, 8, 9, 17, 33, 64, 65}) {  // several lines at a time
      check_arg<float>(set, 2 * set.lanes + 5, n, 1, 10);
      check_arg<int32_t>(set, 2 * set.lanes + 5, n, 1, 11);
      check_arg<double>(set, 2 * set.lanes + 5, n, 1, 12);
      check_arg<int64_t>(set, 2 * set.lanes + 5, n, 1, 13);
    }
    for (int64_t inner : {2, 7, 16, 33}) {
      check_arg<float>(set, 2, 19, inner, 3);
      check_arg<int32_t>(set, 2, 19, inner, 4);
      check_arg<double>(set, 2, 19, inner, 5);
      check_arg<int64_t>(set, 2, 19, inner, 6);
    }
    check_arg<double>(set, 4, 40, 1, 7);
    check_arg<int64_t>(set, 4, 40, 1, 8);
    check_arg<float>(set, 30, 1000, 1, 9);
    GuardedBuffer<int32_t> lowest(20);
    std::fill(lowest.begin(), lowest.end(), INT32_MIN);
    GuardedBuffer<int64_t> y(1);
    run_tasks(set.reduce->arg_reduce, ArgReduceArgs{lowest.data(), y.data(), DType::i32, true, false, 1, 20, 1});
    REQUIRE(y[0] == 0);
    run_tasks(set.reduce->arg_reduce, ArgReduceArgs{lowest.data(), y.data(), DType::i32, true, true, 1, 20, 1});
    REQUIRE(y[0] == 19);
  });
}

TEST_CASE("the k best, with ties in order of index") {
  for_every_set([](const KernelTable& set) {
    for (int64_t n : {1, 2, 15, 16, 17, 40, 300, 1001})
      for (int64_t k : {int64_t{1}, int64_t{2}, int64_t{5}, int64_t{47}, int64_t{48}, int64_t{90}, n / 2, n}) {
        if (k < 1 || k > n) continue;
        check_top_k<float>(set, 2, n, 1, k, static_cast<unsigned>(n));
        check_top_k<float>(set, 2, n, 3, k, static_cast<unsigned>(n) + 1);
        check_top_k<int64_t>(set, 2, n, 1, k, static_cast<unsigned>(n) + 2);
        check_top_k<double>(set, 1, n, 2, k, static_cast<unsigned>(n) + 3);
        check_top_k<int32_t>(set, 1, n, 1, k, static_cast<unsigned>(n) + 4);
      }
    check_top_k<float>(set, 20, 1000, 1, 5, 99);  // several tasks
  });
}

TEST_CASE("the k best of lines that rise, fall, and hardly hold two equal elements") {
  for_every_set([](const KernelTable& set) {
    const int64_t n = 3001;
    GuardedBuffer<float> x(n);
    for (int kind = 0; kind < 4; ++kind) {
      std::mt19937 random(7);
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<float>(i);
        x[i] = kind == 0 ? at : kind == 1 ? -at : kind == 2 ? (i < n / 2 ? at : static_cast<float>(n) - at) : static_cast<float>(random()) - 0x1p31f;
      }
      for (int64_t k : {20, 64, 500, 1499, 3001})
        for (bool largest : {true, false}) {
          GuardedBuffer<float> values(static_cast<size_t>(k));
          GuardedBuffer<int64_t> indices(values.size());
          run_tasks(set.reduce->top_k, TopKArgs{x.data(), values.data(), indices.data(), DType::f32, largest, 1, n, 1, k});
          INFO(set.name << " kind " << kind << " k " << k << " largest " << largest);
          REQUIRE(std::vector<int64_t>(indices.begin(), indices.end()) == reference_top_k(line_of(x, 0, n, 1), k, largest));
          REQUIRE((values.intact() && indices.intact()));
        }
    }
  });
}

TEST_CASE("cumulative sums in both directions") {
  for_every_set([](const KernelTable& set) {
    for (int64_t inner : {1, 3, 64, 65, 130})
      for (int64_t n : {1, 2, 7, 8, 9, 40, 43}) {
        check_cumulative<float>(set, 2, n, inner);
        check_cumulative<double>(set, 7, n, inner);
        check_cumulative<int32_t>(set, 2, n, inner);
        check_cumulative<int64_t>(set, 2, n, inner);
      }
  });
}

TEST_CASE("cumulative sums of doubles overflow where those from the beginning do") {
  for_every_set([](const KernelTable& set) {
    const double big = 1.5e308;
    GuardedBuffer<double> x(9), y(9);
    for (size_t i = 0; i < x.size(); ++i) x[i] = i == 0 ? -big : i < 3 ? big : 0;
    run_tasks(set.reduce->cumulative_sum, CumSumArgs{x.data(), y.data(), DType::f64, false, false, 1, 9, 1});
    for (size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == (i == 0 ? -big : i == 1 ? 0 : big));
  });
}
}  // namespace reduce_order_test
