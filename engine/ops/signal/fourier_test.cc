#include "engine/ops/signal/fourier_common.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <random>

namespace fourier_test {
using namespace svengine;
using namespace svengine::ops;

namespace {

/// The largest error of the transforms of `lines` random lines of length n, over the largest result.
double fourier_error(int64_t n, int64_t lines) {
  const FourierPlan plan(n);
  std::mt19937 random(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto size = static_cast<size_t>(n * lines);
  std::vector<double> re(size), im(size), scratch(static_cast<size_t>(plan.scratch_numbers(lines)));
  for (size_t i = 0; i < size; ++i) re[i] = uniform(random), im[i] = uniform(random);
  const std::vector<double> x = re, y = im;
  plan.transform(re.data(), im.data(), lines, scratch.data());
  double error = 0, largest = 0;
  for (int64_t l = 0; l < lines; ++l)
    for (int64_t k = 0; k < n; ++k) {
      std::complex<double> sum;
      for (int64_t j = 0; j < n; ++j) {
        const double angle = -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
        const auto at = static_cast<size_t>(j * lines + l);
        sum += std::complex<double>(x[at], y[at]) * std::complex<double>(std::cos(angle), std::sin(angle));
      }
      const auto at = static_cast<size_t>(k * lines + l);
      error = std::max(error, std::abs(sum - std::complex<double>(re[at], im[at])));
      largest = std::max(largest, std::abs(sum));
    }
  return error / largest;
}

}  // namespace

TEST_CASE("Fourier transforms of every length are the sums of the definition") {
  std::vector<int64_t> lengths{127, 128, 210, 256, 360, 401, 512, 961, 1000, 1021, 1024};
  for (int64_t n = 1; n <= 100; ++n) lengths.push_back(n);
  for (const int64_t n : lengths) {
    INFO("length " << n);
    CHECK(fourier_error(n, 1) < 2e-14);
    CHECK(fourier_error(n, 3) < 2e-14);
  }
}
}  // namespace fourier_test
