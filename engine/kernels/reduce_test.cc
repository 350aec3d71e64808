#include "engine/kernels/reduce.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reduce_prepare.h"
#include "engine/kernels/reference/reduce.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace reduce_test {
using svengine::DType;
using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr ReduceOp kOps[] = {ReduceOp::kSum,       ReduceOp::kMean,     ReduceOp::kMax, ReduceOp::kMin,
                             ReduceOp::kProd,      ReduceOp::kL1,       ReduceOp::kL2,  ReduceOp::kLogSum,
                             ReduceOp::kLogSumExp, ReduceOp::kSumSquare};

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

// Positive where a logarithm is taken of the sum; near one where everything is multiplied.
template <class T>
GuardedBuffer<T> values_for(ReduceOp op, int64_t count) {
  GuardedBuffer<T> x(static_cast<size_t>(count));
  std::mt19937 random(static_cast<unsigned>(count) + 17);
  std::uniform_real_distribution<double> uniform(op == ReduceOp::kLogSum ? 0.5 : -5, 5);
  for (T& v : x) {
    v = static_cast<T>(uniform(random));
    if (op != ReduceOp::kProd) continue;
    if constexpr (std::is_floating_point_v<T>)
      v = static_cast<T>(1 + uniform(random) / 100);
    else
      v = random() % 3 ? 1 : -1;
  }
  return x;
}

ReduceArgs reduce_args(ReduceOp op, DType type, const std::vector<int64_t>& extent, const std::string& kinds) {
  ReduceArgs args{.op = op, .type = type, .rank = static_cast<int32_t>(extent.size())};
  for (size_t d = 0; d < extent.size(); ++d) args.extent[d] = extent[d], args.reduced[d] = kinds[d] == 'r';
  return args;
}

// `kinds`: r for reduced, k for kept, one for each dimension.
template <class T>
void check(const KernelTable& set, ReduceOp op, const std::vector<int64_t>& extent, const std::string& kinds) {
  ReduceArgs args = reduce_args(op, element_of<T>(), extent, kinds);
  int64_t total = 1;
  for (int64_t e : extent) total *= e;
  const GuardedBuffer<T> x = values_for<T>(op, total);
  const ReferenceReduction want = reference_reduce({x.begin(), x.end()}, args);
  GuardedBuffer<T> y(want.y.size()), once(want.y.size());
  args.x = x.data(), args.y = y.data();
  run_tasks(set.reduce->reduce, args, set.reduce->reduce.tasks(args));
  args.y = once.data();
  run_tasks(set.reduce->reduce, args, 1);
  REQUIRE(same_values(y.data(), once.data(), y.size()));
  const double count = static_cast<double>(total) / static_cast<double>(want.y.size());
  for (size_t i = 0; i < want.y.size(); ++i) {
    const double bound = !std::is_floating_point_v<T> ? 0
                         : std::is_same_v<T, float>   ? 3e-7 * (op == ReduceOp::kProd ? 1 + count / 4 : 1)
                                                      : 1e-13;
    const double expected = std::is_floating_point_v<T> ? want.y[i] : std::trunc(want.y[i]);
    INFO(set.name << " op " << int(op) << " type " << int(args.type) << " kinds " << kinds << " first " << extent[0]
                  << " last " << extent.back() << " output " << i << " got " << y[i] << " want " << expected);
    if (std::isnan(expected))
      REQUIRE(y[i] != y[i]);
    else if (std::isinf(expected))
      REQUIRE(static_cast<double>(y[i]) == expected);
    else
      REQUIRE(std::fabs(static_cast<double>(y[i]) - expected) <= bound * std::max(want.magnitude[i], 1e-30));
  }
  REQUIRE(y.intact());
}

template <class T>
void check_shapes(const KernelTable& set, ReduceOp op) {
  check<T>(set, op, {3, 40}, "kr");
  check<T>(set, op, {40, 3}, "rk");
  check<T>(set, op, {5, 7, 9}, "rkr");
  check<T>(set, op, {5, 7, 70}, "krk");
  check<T>(set, op, {2, 3, 4, 5, 2, 3, 2, 3}, "krkrkrkr");
  check<T>(set, op, {2, 3, 4, 5, 2, 3, 2, 3}, "rkrkrkrk");
  check<T>(set, op, {1, 33, 1, 20}, "kkrr");
  check<T>(set, op, {6, 50}, "rr");
  check<T>(set, op, {6, 5}, "kk");
  check<T>(set, op, {300, 40}, "kr");  // several tasks
}

}  // namespace

TEST_CASE("float reductions of lines and columns of every length") {
  for_every_set([](const KernelTable& set) {
    for (ReduceOp op : kOps) {
      for (int64_t n = 1; n <= 8 * set.lanes + 1; ++n) check<float>(set, op, {2, n}, "kr");
      for (int64_t n = 1; n <= 4 * set.lanes + 1; ++n) check<float>(set, op, {3, n}, "rk");
      for (int64_t n : {31, 32, 33, 65, 100}) check<float>(set, op, {n, 5}, "rk");
      check_shapes<float>(set, op);
    }
  });
}

TEST_CASE("double and integer reductions") {
  for_every_set([](const KernelTable& set) {
    for (ReduceOp op : kOps) {
      for (int64_t n : {1, 2, 15, 16, 17, 50}) {
        check<double>(set, op, {2, n}, "kr");
        if (op != ReduceOp::kLogSumExp && op != ReduceOp::kLogSum && op != ReduceOp::kL2) {  // truncation decides those
          check<int32_t>(set, op, {2, n}, "kr");
          check<int64_t>(set, op, {n, 3}, "rk");
        }
      }
      check_shapes<double>(set, op);
    }
    GuardedBuffer<int32_t> x(2), y(1);
    x[0] = -3, x[1] = 4;
    ReduceArgs args = reduce_args(ReduceOp::kL2, DType::i32, {2}, "r");
    args.x = x.data(), args.y = y.data();
    run_tasks(set.reduce->reduce, args);
    REQUIRE(y[0] == 5);
  });
}

namespace {

/// Lines give what each of them gives alone, bit by bit: short ones go several at a time.
template <class T>
void check_lines_together(const KernelTable& set, ReduceOp op, int64_t lines, int64_t n) {
  GuardedBuffer<T> x = values_for<T>(op, lines * n);
  if constexpr (std::is_floating_point_v<T>)
    for (size_t i = 0; i < x.size(); i += 5)  // in every fifth place, zeros of both signs among them
      x[i] = static_cast<T>(std::vector<float>{0, -0.0f, kInf, -kInf, kNaN, -0.0f, -0.0f}[i / 5 % 7]);
  GuardedBuffer<T> together(static_cast<size_t>(lines)), alone(together.size());
  ReduceArgs args = reduce_args(op, element_of<T>(), {lines, n}, "kr");
  args.x = x.data(), args.y = together.data();
  run_tasks(set.reduce->reduce, args, 1);
  args.extent[0] = 1;
  for (int64_t i = 0; i < lines; ++i) {
    args.x = x.data() + i * n, args.y = alone.data() + i;
    run_tasks(set.reduce->reduce, args);
  }
  INFO(set.name << " op " << int(op) << " type " << int(element_of<T>()) << " n " << n);
  REQUIRE(same_values(together.data(), alone.data(), together.size()));
  REQUIRE((together.intact() && alone.intact()));
}

}  // namespace

TEST_CASE("lines are reduced together as each alone") {
  for_every_set([](const KernelTable& set) {
    for (ReduceOp op : kOps)
      for (int64_t n : {2, 3, 7, 8, 9, 16, 17, 31, 33, 64, 65}) {
        check_lines_together<float>(set, op, 2 * set.lanes + 3, n);
        check_lines_together<double>(set, op, 2 * set.lanes + 3, n);
        check_lines_together<int32_t>(set, op, 2 * set.lanes + 3, n);
        check_lines_together<int64_t>(set, op, 2 * set.lanes + 3, n);
      }
  });
}

TEST_CASE("float sums of long lines keep their digits") {
  for_every_set([](const KernelTable& set) {
    check<float>(set, ReduceOp::kSum, {1, 200003}, "kr");
    check<float>(set, ReduceOp::kMean, {20011, 3}, "rk");
    check<float>(set, ReduceOp::kSumSquare, {50, 2003}, "rr");
  });
}

TEST_CASE("empty reductions give the neutral element") {
  for_every_set([](const KernelTable& set) {
    for (ReduceOp op : kOps)
      for (const char* kinds : {"kr", "rk"}) {
        check<float>(set, op, std::string(kinds) == "kr" ? std::vector<int64_t>{3, 0} : std::vector<int64_t>{0, 3},
                     kinds);
        check<double>(set, op, std::string(kinds) == "kr" ? std::vector<int64_t>{3, 0} : std::vector<int64_t>{0, 3},
                      kinds);
      }
    GuardedBuffer<int64_t> y(1);
    ReduceArgs args = reduce_args(ReduceOp::kMax, DType::i64, {0}, "r");
    args.y = y.data();
    run_tasks(set.reduce->reduce, args);
    REQUIRE(y[0] == INT64_MIN);
  });
}

namespace {

/// Two elements of the lowest value have a norm beyond the highest, in a line and in columns.
template <class T>
void check_large_norm(const KernelTable& set, DType type) {
  GuardedBuffer<T> x(4);
  for (T& value : x) value = std::numeric_limits<T>::lowest();
  for (const char* kinds : {"r", "rk"}) {
    GuardedBuffer<T> y(2);
    ReduceArgs args = reduce_args(ReduceOp::kL2, type, kinds[1] ? std::vector<int64_t>{2, 2} : std::vector<int64_t>{4}, kinds);
    args.x = x.data(), args.y = y.data();
    run_tasks(set.reduce->reduce, args);
    INFO(set.name << " kinds " << kinds);
    CHECK(y[0] == std::numeric_limits<T>::max());
  }
}

}  // namespace

TEST_CASE("a norm of integers stays in their range") {
  for_every_set([](const KernelTable& set) {
    check_large_norm<int32_t>(set, DType::i32);
    check_large_norm<int64_t>(set, DType::i64);
  });
}

TEST_CASE("reductions pass NaN and infinities on") {
  const std::vector<std::vector<float>> lines = {{1, kNaN, 2},     {kInf, 1, 2}, {-kInf, -kInf},
                                                 {kInf, -kInf, 3}, {-kInf, 4},   {kInf, kInf}};
  for_every_set([&](const KernelTable& set) {
    for (const std::vector<float>& line : lines)
      for (ReduceOp op : kOps)
        for (int64_t copies : {1, 30})
          for (bool column : {false, true}) {
            const int64_t n = static_cast<int64_t>(line.size()) * copies;
            GuardedBuffer<float> x(static_cast<size_t>(n)), y(1);
            for (int64_t i = 0; i < n; ++i) x[i] = line[i % line.size()];
            ReduceArgs args = reduce_args(op, DType::f32, {n, 1}, "rk");
            if (column) args = reduce_args(op, DType::f32, {n, 2}, "rk");
            GuardedBuffer<float> x2(static_cast<size_t>(2 * n)), y2(2);
            for (int64_t i = 0; i < 2 * n; ++i) x2[i] = i % 2 ? 1.0f : x[i / 2];
            args.x = column ? x2.data() : x.data(), args.y = column ? y2.data() : y.data();
            run_tasks(set.reduce->reduce, args);
            const double want = reference_reduce({x.begin(), x.end()}, reduce_args(op, DType::f32, {n}, "r")).y[0];
            const float got = column ? y2[0] : y[0];
            INFO(set.name << " op " << int(op) << " line " << line[0] << " " << line[1] << " column " << column
                          << " got " << got << " want " << want);
            if (std::isnan(want))
              REQUIRE(std::isnan(got));
            else
              REQUIRE(got == static_cast<float>(want));
            if (column) REQUIRE(std::isfinite(y2[1]));
          }
  });
}

TEST_CASE("a split reduction gives what the whole one gives") {
  for_every_set([](const KernelTable& set) {
    for (ReduceOp op : kOps) {
      ReduceArgs args = reduce_args(op, DType::f32, {24, 3, 8000}, "rkr");
      const GuardedBuffer<float> x = values_for<float>(op, 24 * 3 * 8000);
      const ReferenceReduction want = reference_reduce({x.begin(), x.end()}, args);
      auto split = split_reduce(args);
      REQUIRE(split);
      REQUIRE(set.reduce->reduce.tasks(split->first) > 40);
      GuardedBuffer<float> partials(static_cast<size_t>(split->partials)), y(3);
      split->first.x = x.data(), split->first.y = partials.data();
      split->second.x = partials.data(), split->second.y = y.data();
      run_tasks(set.reduce->reduce, split->first);
      run_tasks(set.reduce->reduce, split->second);
      for (size_t i = 0; i < 3; ++i) {
        INFO(set.name << " op " << int(op));
        REQUIRE(std::fabs(y[i] - want.y[i]) <= (op == ReduceOp::kProd ? 1e-3 : 4e-7) * want.magnitude[i]);
      }
    }
    REQUIRE(!split_reduce(reduce_args(ReduceOp::kMean, DType::i64, {1 << 20}, "r")));
    REQUIRE(!split_reduce(reduce_args(ReduceOp::kSum, DType::f32, {100, 1 << 20}, "kr")));
  });
}
}  // namespace reduce_test
