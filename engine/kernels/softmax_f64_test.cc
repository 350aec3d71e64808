#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/softmax.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace softmax_f64_test {
using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The formula of softmax.h in long double.
std::vector<long double> wide_softmax(const std::vector<double>& x, bool log) {
  long double maximum = -std::numeric_limits<long double>::infinity(), sum = 0;
  for (const double v : x) maximum = std::isnan(v) || std::isnan(maximum) ? kNaN : std::max<long double>(maximum, v);
  for (const double v : x) sum += std::exp(v - maximum);
  std::vector<long double> y;
  for (const double v : x) y.push_back(log ? v - maximum - std::log(sum) : std::exp(v - maximum) / sum);
  return y;
}

void check_line(const std::vector<double>& x, const std::vector<double>& got, bool log) {
  const std::vector<long double> want = wide_softmax(x, log);
  const double largest = *std::max_element(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    INFO("n " << n << " element " << i << " x " << x[i] << " got " << got[i] << " want " << static_cast<double>(want[i]));
    if (!std::isfinite(static_cast<double>(want[i]))) {  // differences beyond the range of doubles are infinite
      REQUIRE((std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == static_cast<double>(want[i])));
      continue;
    }
    // softmax.h's units, of the result, or of the larger of it and log(n).
    const double units = log ? 2 + n / 512 : want[i] == 0 ? 0 : 6 + n / 512 + (largest - x[i]);
    const long double size = log ? std::max<long double>(std::fabs(want[i]), std::log(n)) : want[i];
    REQUIRE(std::fabs(got[i] - want[i]) <= units * 0x1p-52 * size + std::numeric_limits<double>::min());
  }
}

struct Case {
  int64_t outer, n, inner;
  double range = 10;
};

void check(const KernelTable& set, const Case& c, bool log, bool in_place) {
  INFO(set.name << (log ? " log" : "") << (in_place ? " in place" : "") << " outer " << c.outer << " inner " << c.inner);
  std::mt19937 random(static_cast<unsigned>(c.n * 131 + c.inner));
  std::uniform_real_distribution<double> uniform(-c.range, c.range);
  const int64_t size = c.n * c.inner, gap = c.outer > 1 ? 3 : 0;
  const size_t total = static_cast<size_t>(c.outer * size + (c.outer - 1) * gap);
  GuardedBuffer<double> x(total), y(total), once(total);
  for (int64_t o = 0; o < c.outer; ++o)
    for (int64_t i = 0; i < size; ++i) x[o * (size + gap) + i] = uniform(random);
  const std::vector<double> original(x.begin(), x.end());

  GuardedBuffer<double>& out = in_place ? x : y;
  SoftmaxArgsF64 args{x.data(), once.data(), c.outer, c.n, c.inner, size + gap, size + gap};
  const auto& kernel = log ? set.softmax->log_softmax_f64 : set.softmax->softmax_f64;
  run_tasks(kernel, args, 1);
  args.y = out.data();
  run_tasks(kernel, args, kernel.tasks(args));
  for (int64_t o = 0; o < c.outer; ++o) {
    const int64_t base = o * (size + gap);
    for (int64_t k = 0; k < c.inner; ++k) {
      std::vector<double> line, got;
      for (int64_t j = 0; j < c.n; ++j) {
        line.push_back(original[static_cast<size_t>(base + k + j * c.inner)]);
        got.push_back(out[base + k + j * c.inner]);
      }
      check_line(line, got, log);
    }
    for (int64_t i = 0; i < size; ++i) REQUIRE(out[base + i] == once[base + i]);
    for (int64_t g = 0; g < gap && o + 1 < c.outer; ++g) REQUIRE(out.poisoned(base + size + g));
  }
  REQUIRE(out.intact());
}

}  // namespace

TEST_CASE("softmax of lines of doubles of every length up to many vectors") {
  for (const KernelTable* set : tested_kernel_sets()) {
    for (int64_t n = 1; n <= 4 * set->lanes + 1; ++n)
      for (const bool log : {false, true}) check(*set, {1, n, 1}, log, n % 2 == 0);
    for (const int64_t n : {129, 255, 1000, 2049, 4099}) check(*set, {3, n, 1}, n % 2 == 0, false);
    check(*set, {5, 300, 1, 350}, true, true);
    check(*set, {5, 300, 1, 350}, false, false);
    check(*set, {700, 13, 1}, false, true);  // several tasks
  }
}

TEST_CASE("softmax of doubles over a middle axis at every inner length") {
  for (const KernelTable* set : tested_kernel_sets()) {
    for (int64_t inner = 2; inner <= 4 * set->lanes + 1; ++inner)
      for (const bool log : {false, true}) check(*set, {2, 7, inner}, log, inner % 2 == 0);
    check(*set, {3, 130, 5 * set->lanes + 3}, false, false);
    check(*set, {1, 1, 9}, true, false);
  }
}

TEST_CASE("softmax of doubles keeps its bound on long lines of equal values") {
  constexpr int64_t kLength = 100003;
  for (const KernelTable* set : tested_kernel_sets()) {
    GuardedBuffer<double> x(kLength), y(kLength);
    std::fill(x.begin(), x.end(), 0.75);
    run_tasks(set->softmax->softmax_f64, SoftmaxArgsF64{x.data(), y.data(), 1, kLength, 1, kLength, kLength});
    for (const double v : y) REQUIRE(std::fabs(v * kLength - 1) <= (6 + kLength / 512) * 0x1p-52);
  }
}

TEST_CASE("softmax of doubles passes NaN and infinities on as NumPy does") {
  const std::vector<std::vector<double>> lines = {
      {1, kNaN, 2},        {kNaN},  {-kInf, 0, 1},     {-kInf, -kInf, -kInf},     {kInf, 0, 1},        {kInf, kInf},
      {kInf, -kInf, kNaN}, {-kInf}, {1.5e308, -1.5e308}, {5e-324, -5e-324, 0}, {700, -700, 800, -800}};
  for (const KernelTable* set : tested_kernel_sets())
    for (const std::vector<double>& start : lines)
      for (const size_t length : {start.size(), size_t{17}, size_t{100}}) {
        std::vector<double> line = start;
        while (line.size() < length) line.push_back(start.back() < 1e300 ? start.back() : 0);
        const auto n = static_cast<int64_t>(length);
        for (const bool log : {false, true}) {
          const auto& kernel = log ? set->softmax->log_softmax_f64 : set->softmax->softmax_f64;
          std::vector<double> y(length);
          run_tasks(kernel, SoftmaxArgsF64{line.data(), y.data(), 1, n, 1, n, n});
          check_line(line, y, log);
          // The same line in one column among others: no neighbour is touched by its NaN.
          std::vector<double> columns(length * 3), results(length * 3), got[2], other(length);
          for (size_t j = 0; j < length; ++j) {
            columns[3 * j] = columns[3 * j + 2] = other[j] = static_cast<double>(j) * 0.5;
            columns[3 * j + 1] = line[j];
          }
          run_tasks(kernel, SoftmaxArgsF64{columns.data(), results.data(), 1, n, 3, 3 * n, 3 * n});
          for (size_t j = 0; j < length; ++j) got[0].push_back(results[3 * j + 1]), got[1].push_back(results[3 * j + 2]);
          check_line(line, got[0], log);
          check_line(other, got[1], log);
        }
      }
}
}  // namespace softmax_f64_test
