#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/norm.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace norm_lines_test {
using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

constexpr LineNorm kNorms[] = {LineNorm::kL1, LineNorm::kL2, LineNorm::kDeviation};

template <class T>
const TaskKernel<LineNormArgsOf<T>>& kernel_of(const KernelTable& set) {
  if constexpr (std::is_same_v<T, float>) return set.norm->line_norm;
  else return set.norm->line_norm_f64;
}

/// The elements of line l, column i.
template <class T>
std::vector<size_t> places(const LineNormArgsOf<T>& args, int64_t l, int64_t i) {
  std::vector<size_t> at;
  for (int64_t s = 0; s < args.segments.count(); ++s)
    for (int64_t k = 0; k < args.n; ++k) at.push_back(static_cast<size_t>(args.lines.at(l) + args.segments.at(s) + k * args.inner + i));
  return at;
}

/// norm.h's formulas in long double: rounded once to float32; of float64 a column's sum has a rounding for every element. The mean's
/// rounding counts where the deviation is small.
template <class T>
void check_lines(const KernelTable& set, const LineNormArgsOf<T>& args, const T* y) {
  for (int64_t l = 0; l < args.lines.count(); ++l)
    for (int64_t i = 0; i < args.inner; ++i) {
      const std::vector<size_t> at = places(args, l, i);
      long double sum = 0, mean = 0, divisor = 0;
      for (const size_t k : at) sum += args.x[k];
      if (args.norm == LineNorm::kDeviation) mean = sum / static_cast<long double>(at.size());
      for (const size_t k : at)
        divisor += args.norm == LineNorm::kL1 ? std::fabs(static_cast<long double>(args.x[k])) : (args.x[k] - mean) * (args.x[k] - mean);
      if (args.norm == LineNorm::kDeviation) divisor /= static_cast<long double>(at.size());
      if (args.norm != LineNorm::kL1) divisor = std::sqrt(divisor);
      divisor += args.guard;
      for (const size_t k : at) {
        const long double want = divisor == 0 ? 0 : (args.x[k] - mean) / divisor;
        const long double bound = std::is_same_v<T, float> ? 0x1.1p-24L : 0x1p-52L * (4 + static_cast<long double>(args.n) / 8),
                          slack = args.norm == LineNorm::kDeviation
                                      ? 0x1p-51L * (1 + static_cast<long double>(args.n) / 1000) * (1 + std::fabs(mean) / divisor)
                                      : 0;
        INFO(set.name << " norm " << static_cast<int>(args.norm) << " n " << args.n << " inner " << args.inner << " got " << static_cast<double>(y[k])
                      << " want " << static_cast<double>(want));
        REQUIRE(std::fabs(y[k] - want) <= bound * std::fabs(want) + slack);
      }
    }
}

template <class T>
void check_sizes(const KernelTable& set, int64_t lines, int64_t n, int64_t inner) {
  std::mt19937 random(static_cast<unsigned>(n * 31 + inner));
  std::normal_distribution<double> normal(0.5, 2);
  GuardedBuffer<T> x(static_cast<size_t>(lines * n * inner)), y(x.size()), in_place(x.size());
  for (T& v : x) v = static_cast<T>(normal(random));
  for (const LineNorm norm : kNorms) {
    LineNormArgsOf<T> args{.x = x.data(),
                           .y = y.data(),
                           .norm = norm,
                           .guard = norm == LineNorm::kDeviation ? 1e-9 : 0,
                           .lines = {1, {lines}, {n * inner}},
                           .segments = {},
                           .n = n,
                           .inner = inner};
    run_tasks(kernel_of<T>(set), args);
    check_lines(set, args, y.data());
    std::copy(x.begin(), x.end(), in_place.begin());
    args.x = args.y = in_place.data();
    run_tasks(kernel_of<T>(set), args, 1);
    REQUIRE(std::equal(y.begin(), y.end(), in_place.begin()));
    REQUIRE((y.intact() && in_place.intact()));
  }
}

/// A line of these against x / divisor; NaN is like NaN.
template <class T>
void check_special(const KernelTable& set, LineNorm norm, int64_t inner, std::vector<T> line, const std::vector<double>& want) {
  const auto n = static_cast<int64_t>(line.size());
  std::vector<T> x(static_cast<size_t>(n * inner)), y(x.size());
  for (int64_t k = 0; k < n; ++k) std::fill_n(x.begin() + k * inner, inner, line[static_cast<size_t>(k)]);
  const LineNormArgsOf<T> args{.x = x.data(), .y = y.data(), .norm = norm, .lines = {}, .segments = {}, .n = n, .inner = inner};
  run_tasks(kernel_of<T>(set), args);
  for (size_t k = 0; k < y.size(); ++k) {
    const double expected = want[k / static_cast<size_t>(inner)];
    INFO(set.name << " norm " << static_cast<int>(norm) << " inner " << inner << " element " << k << " is " << static_cast<double>(y[k]));
    REQUIRE((std::isnan(expected) ? std::isnan(y[k]) : y[k] == static_cast<T>(expected) && std::signbit(y[k]) == std::signbit(expected)));
  }
}

}  // namespace

TEST_CASE("lines by their norms, of every length, side by side and one behind the other") {
  // Not all of all: the oracle's long double is software on aarch64, where the emulator takes a minute.
  for (const KernelTable* set : tested_kernel_sets()) {
    for (const int64_t n : {1, 2, 7, 8, 15, 31, 32, 33, 64, 100, 1030, 20001}) {
      const int64_t lines = n > 10000 ? 2 : 5;
      check_sizes<float>(*set, lines, n, 1);
      check_sizes<double>(*set, lines, n, 1);
    }
    for (const int64_t n : {1, 2, 7, 8, 33, 100})
      for (const int64_t inner : {2, 9, 63, 64, 65, 130}) {
        check_sizes<float>(*set, 2, n, inner);
        check_sizes<double>(*set, 2, n, inner);
      }
  }
}

TEST_CASE("lines of several dimensions, in segments of several") {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const KernelTable* set : tested_kernel_sets())
    for (const int64_t inner : {1, 3}) {
      // [2, 3, 2, 5, 37, inner], of which dimensions 0, 2 and 4 are lines'
      const int64_t piece = 37 * inner;
      GuardedBuffer<float> x(static_cast<size_t>(60 * piece)), y(x.size());
      for (float& v : x) v = normal(random);
      for (const LineNorm norm : kNorms) {
        const LineNormArgs args{.x = x.data(),
                                .y = y.data(),
                                .norm = norm,
                                .lines = {2, {5, 3}, {piece, 10 * piece}},
                                .segments = {2, {2, 2}, {5 * piece, 30 * piece}},
                                .n = 37,
                                .inner = inner};
        for (float& v : y) v = std::numeric_limits<float>::quiet_NaN();
        run_tasks(set->norm->line_norm, args);
        check_lines(*set, args, y.data());
        REQUIRE(std::none_of(y.begin(), y.end(), [](float v) { return std::isnan(v); }));
        REQUIRE(y.intact());
      }
    }
}

TEST_CASE("norms of zeros, infinities, NaN, and of what leaves the range of its type") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto finf = static_cast<float>(inf), fnan = static_cast<float>(nan);
  for (const KernelTable* set : tested_kernel_sets())
    for (const int64_t inner : {1, 5})
      for (const LineNorm norm : {LineNorm::kL1, LineNorm::kL2}) {
        check_special<float>(*set, norm, inner, {0.0f, -0.0f, 0.0f}, {0, 0, 0});
        check_special<double>(*set, norm, inner, {0.0, -0.0, 0.0}, {0, 0, 0});
        check_special<float>(*set, norm, inner, {1.0f, -finf, -0.0f}, {0, nan, -0.0});
        check_special<double>(*set, norm, inner, {1.0, -inf, -2.0}, {0, nan, -0.0});
        check_special<float>(*set, norm, inner, {1.0f, fnan}, {nan, nan});
        check_special<double>(*set, norm, inner, {nan, 1.0}, {nan, nan});
        check_special<float>(*set, norm, inner, {3e38f, 0.0f}, {1, 0});
        check_special<float>(*set, norm, inner, {-1e-30f, 0.0f}, {-1, 0});
        check_special<double>(*set, norm, inner, {1e-140, 0.0}, {1, 0});
      }
  for (const KernelTable* set : tested_kernel_sets()) {
    check_special<double>(*set, LineNorm::kL1, 1, {1e300, -3e300}, {0.25, -0.75});
    check_special<double>(*set, LineNorm::kL2, 1, {1e200, 1.0}, {0, 0});  // the square is infinite
    check_special<float>(*set, LineNorm::kDeviation, 3, {1.0f, fnan}, {nan, nan});
    check_special<float>(*set, LineNorm::kDeviation, 1, {1.0f, finf}, {nan, nan});
  }
}
}  // namespace norm_lines_test
