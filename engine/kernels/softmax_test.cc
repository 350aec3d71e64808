#include "engine/kernels/softmax.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/softmax.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace softmax_test {
using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

constexpr double kSoftmaxUlp = 6;  // softmax.h; one more for each unit of distance from the maximum
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<double> line_of(const float* x, int64_t n, int64_t stride) {
  std::vector<double> line;
  for (int64_t j = 0; j < n; ++j) line.push_back(x[j * stride]);
  return line;
}

// log-softmax cancels where x is the maximum of a line that it dominates: bounded by the ULP of the largest term
// instead.
bool log_close(float got, double want, double scale) {
  if (std::isnan(want) || std::isinf(static_cast<float>(want))) return ulp_error(got, want) == 0;
  return std::fabs(got - want) <= 4 * std::ldexp(std::max({std::fabs(want), scale, 1e-30}), -24);
}

void check_line(const std::vector<double>& x, const float* y, int64_t stride, bool log, const std::string& what) {
  const std::vector<double> want = reference_softmax(x, log);
  const double maximum = *std::max_element(x.begin(), x.end());
  const double scale = log ? std::log(static_cast<double>(x.size())) : 0;
  for (size_t j = 0; j < x.size(); ++j) {
    const float got = y[static_cast<int64_t>(j) * stride];
    if (log ? log_close(got, want[j], scale) : ulp_error(got, want[j]) <= kSoftmaxUlp + maximum - x[j]) continue;
    if (!log && ulp_error(got, want[j]) == 0) continue;  // NaN
    // Below the smallest normal number the result may be flushed.
    if (!log && std::fabs(want[j]) < std::numeric_limits<float>::min() && std::fabs(got - want[j]) < 1.2e-38) continue;
    INFO(what << " n " << x.size() << " element " << j << " x " << x[j] << " got " << got << " want " << want[j]);
    FAIL("wrong");
  }
}

struct Case {
  int64_t outer, n, inner;
  float range = 10;
};

void check(const KernelTable& set, const Case& c, bool log, bool in_place) {
  const std::string what = std::string(set.name) + (log ? " log" : "") + (in_place ? " in place" : "") + " outer " +
                           std::to_string(c.outer) + " inner " + std::to_string(c.inner);
  std::mt19937 random(static_cast<unsigned>(c.n * 131 + c.inner));
  std::uniform_real_distribution<float> uniform(-c.range, c.range);
  const int64_t size = c.n * c.inner, gap = c.outer > 1 ? 3 : 0;
  const size_t total = static_cast<size_t>(c.outer * size + (c.outer - 1) * gap);
  GuardedBuffer<float> x(total), y(total), once(total);
  for (int64_t o = 0; o < c.outer; ++o)
    for (int64_t i = 0; i < size; ++i) x[o * (size + gap) + i] = uniform(random);
  const std::vector<float> original(x.begin(), x.end());

  GuardedBuffer<float>& out = in_place ? x : y;
  SoftmaxArgs args{x.data(), once.data(), c.outer, c.n, c.inner, size + gap, size + gap};
  const auto& kernel = log ? set.softmax->log_softmax : set.softmax->softmax;
  run_tasks(kernel, args, 1);
  args.y = out.data();
  run_tasks(kernel, args, kernel.tasks(args));
  for (int64_t o = 0; o < c.outer; ++o) {
    const int64_t base = o * (size + gap);
    for (int64_t k = 0; k < c.inner; ++k)
      check_line(line_of(original.data() + base + k, c.n, c.inner), out.data() + base + k, c.inner, log, what);
    REQUIRE(same_values(out.data() + base, once.data() + base, static_cast<size_t>(size)));
    for (int64_t g = 0; g < gap && o + 1 < c.outer; ++g) REQUIRE(out.poisoned(base + size + g));
  }
  REQUIRE(out.intact());
}

template <class F>
void for_every_set(const F& f) {
  REQUIRE(!tested_kernel_sets().empty());
  for (const KernelTable* set : tested_kernel_sets()) f(*set);
}

}  // namespace

TEST_CASE("softmax of lines of every length up to many vectors") {
  for_every_set([](const KernelTable& set) {
    for (int64_t n = 1; n <= 8 * set.lanes + 1; ++n)
      for (bool log : {false, true}) check(set, {1, n, 1}, log, n % 2 == 0);
    for (int64_t n : {129, 255, 1000, 2048, 2049, 4099}) check(set, {3, n, 1}, false, false);
    check(set, {5, 300, 1, 60}, true, true);
    check(set, {5, 300, 1, 60}, false, false);
    check(set, {700, 13, 1}, false, true);  // several tasks
  });
}

TEST_CASE("softmax of short lines gives together what each gives alone") {
  for (const KernelTable* set : tested_kernel_sets())
    for (bool log : {false, true})
      for (int64_t n : {1, 2, 5, 8, 9, 16, 17, 31, 32, 33, 41, 48, 49, 63, 64, 65}) {
        const Case many{2 * set->lanes + 7, n, 1};
        for (bool in_place : {false, true}) check(*set, many, log, in_place);
        GuardedBuffer<float> x(static_cast<size_t>(many.outer * n)), together(x.size()), alone(x.size());
        for (size_t i = 0; i < x.size(); ++i) x[i] = i % 41 == 3 ? kNaN : i % 29 == 5 ? -kInf : static_cast<float>(i * 37 % 101) / 7;
        const auto& kernel = log ? set->softmax->log_softmax : set->softmax->softmax;
        run_tasks(kernel, SoftmaxArgs{x.data(), together.data(), many.outer, n, 1, n, n}, 1);
        for (int64_t o = 0; o < many.outer; ++o)
          run_tasks(kernel, SoftmaxArgs{x.data() + o * n, alone.data() + o * n, 1, n, 1, n, n});
        INFO(set->name << " n " << n);
        REQUIRE(same_values(together.data(), alone.data(), x.size()));
      }
}

TEST_CASE("softmax over a middle axis at every inner length") {
  for_every_set([](const KernelTable& set) {
    for (int64_t inner = 2; inner <= 4 * set.lanes + 1; ++inner)
      for (bool log : {false, true}) check(set, {2, 7, inner}, log, inner % 2 == 0);
    check(set, {3, 130, 5 * set.lanes + 3}, false, false);
    check(set, {1, 1, 9}, true, false);
  });
}

TEST_CASE("softmax keeps its bound on long lines of equal values") {
  for_every_set([](const KernelTable& set) {
    GuardedBuffer<float> x(100003), y(100003);
    std::fill(x.begin(), x.end(), 0.75f);
    run_tasks(set.softmax->softmax, SoftmaxArgs{x.data(), y.data(), 1, 100003, 1, 0, 0});
    for (float v : y) REQUIRE(ulp_error(v, 1.0 / 100003) <= kSoftmaxUlp);
  });
}

TEST_CASE("softmax passes NaN and infinities on as NumPy does") {
  const std::vector<std::vector<float>> lines = {
      {1, kNaN, 2},        {kNaN},  {-kInf, 0, 1},   {-kInf, -kInf, -kInf}, {kInf, 0, 1},        {kInf, kInf},
      {kInf, -kInf, kNaN}, {-kInf}, {3e38f, -3e38f}, {1e-45f, -1e-45f, 0},  {88, -88, 200, -200}};
  for_every_set([&](const KernelTable& set) {
    for (const std::vector<float>& start : lines)
      for (size_t length : {start.size(), size_t{17}, size_t{100}}) {
        std::vector<float> line = start;
        while (line.size() < length) line.push_back(start.back() < 1e30f ? start.back() : 0);
        for (bool log : {false, true}) {
          const std::vector<double> wide(line.begin(), line.end());
          const int64_t n = static_cast<int64_t>(line.size());
          const auto& kernel = log ? set.softmax->log_softmax : set.softmax->softmax;
          GuardedBuffer<float> x(line.size()), y(line.size());
          std::copy(line.begin(), line.end(), x.begin());
          run_tasks(kernel, SoftmaxArgs{x.data(), y.data(), 1, n, 1, n, n});
          check_line(wide, y.data(), 1, log, set.name);
          // The same line in one column among others: no neighbour is touched by its NaN.
          GuardedBuffer<float> columns(line.size() * 3), results(line.size() * 3);
          for (size_t j = 0; j < line.size(); ++j) {
            columns[3 * j] = columns[3 * j + 2] = static_cast<float>(j) * 0.5f;
            columns[3 * j + 1] = line[j];
          }
          run_tasks(kernel, SoftmaxArgs{columns.data(), results.data(), 1, n, 3, 3 * n, 3 * n});
          check_line(wide, results.data() + 1, 3, log, set.name);
          check_line(line_of(columns.data() + 2, n, 3), results.data() + 2, 3, log, set.name);
        }
      }
  });
}

TEST_CASE("hardmax marks the first maximum") {
  for_every_set([](const KernelTable& set) {
    std::mt19937 random(3);
    for (int64_t inner : {1, 3, 20, 70})
      for (int64_t n : {1, 2, 15, 16, 17, 90}) {
        const size_t total = static_cast<size_t>(2 * n * inner);
        GuardedBuffer<float> x(total), y(total);
        for (float& v : x)
          v = random() % 40 == 0 ? kNaN : random() % 9 == 0 ? -0.0f : static_cast<float>(random() % 7) - 6;
        run_tasks(set.softmax->hardmax, SoftmaxArgs{x.data(), y.data(), 2, n, inner, n * inner, n * inner});
        for (int64_t o = 0; o < 2; ++o)
          for (int64_t k = 0; k < inner; ++k) {
            const int64_t base = o * n * inner + k;
            const int64_t top = reference_argmax(line_of(x.data() + base, n, inner));
            for (int64_t j = 0; j < n; ++j) REQUIRE(y[base + j * inner] == (j == top ? 1.0f : 0.0f));
          }
        REQUIRE(y.intact());
      }
  });
}
}  // namespace softmax_test
