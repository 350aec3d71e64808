// Functions of doubles whose vector code is ours, against long double, whose errors are nothing beside a double's.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string_view>
#include <vector>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/elementwise.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace elementwise_unary_f64_test {
using svengine::DType;
using namespace svengine::kernels;
using svengine::tests::run_tasks;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
using Wide = long double;

Wide logistic_wide(Wide x) { return 1 / (1 + std::exp(-x)); }
Wide softplus_wide(Wide x) { return std::max<Wide>(x, 0) + std::log1p(std::exp(-std::fabs(x))); }

struct Function {
  UnaryOp op;
  double units;  // of 2^-52 relative to the result
  double low, high;  // where it is tried, beside numbers near 0
  std::function<Wide(Wide)> formula;
  double alpha = 0, beta = 0;
  double least = 0;  // smaller results may be off by as much as this one
};

std::vector<Function> functions() {
  constexpr double kAlpha = 1.6732631921768188, kBeta = 1.0507010221481323;
  return {
      {UnaryOp::kLog, 1.5, 0, 1e9, [](Wide x) { return std::log(x); }},
      {UnaryOp::kSin, 1, -1e7, 1e7, [](Wide x) { return std::sin(x); }},
      {UnaryOp::kCos, 1, -1e6, 1e6, [](Wide x) { return std::cos(x); }},
      {UnaryOp::kTan, 2.5, -1e6, 1e6, [](Wide x) { return std::tan(x); }},
      {UnaryOp::kErf, 1.5, -7, 7, [](Wide x) { return std::erf(x); }},
      {UnaryOp::kSoftplus, 2.5, -700, 700, softplus_wide},
      {UnaryOp::kLeakyRelu, 1, -9, 9, [](Wide x) { return x < 0 ? Wide(0.01f) * x : x; }, 0.01f},
      {UnaryOp::kHardSigmoid, 1.5, -4, 9, [](Wide x) { return std::clamp<Wide>(Wide(0.2f) * x + 0.5, 0, 1); }, 0.2f, 0.5, 0.5},
      {UnaryOp::kGelu, 5, -37, 9, [](Wide x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<Wide>); }},
      {UnaryOp::kSilu, 4, -700, 700, [](Wide x) { return x * logistic_wide(x); }},
      {UnaryOp::kElu, 3, -70, 9, [](Wide x) { return x < 0 ? 1.25 * std::expm1(x) : x; }, 1.25},
      {UnaryOp::kSelu, 4, -70, 9, [=](Wide x) { return x < 0 ? Wide(kBeta) * kAlpha * std::expm1(x) : kBeta * x; }, kAlpha, kBeta},
      {UnaryOp::kCelu, 4.5, -90, 9, [](Wide x) { return x < 0 ? 1.5 * std::expm1(x / 1.5) : x; }, 1.5},
      {UnaryOp::kThresholdedRelu, 0, -9, 9, [](Wide x) { return x > 1.25 ? x : 0; }, 1.25},
      {UnaryOp::kSoftsign, 2, -1e6, 1e6, [](Wide x) { return x / (1 + std::fabs(x)); }},
      {UnaryOp::kMish, 4, -700, 40, [](Wide x) { return x * std::tanh(softplus_wide(x)); }},
  };
}

/// `x` through the kernel, in one piece.
std::vector<double> results(const KernelTable& set, const Function& f, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  UnaryArgs args{f.op, DType::f64, x.data(), y.data(), static_cast<int64_t>(x.size())};
  args.alpha = f.alpha, args.beta = f.beta;
  run_tasks(set.elementwise->unary, args);
  return y;
}

}  // namespace

TEST_CASE("functions of doubles are as exact as said", "[elementwise]") {
  std::mt19937 random(12);
  for (const Function& f : functions()) {
    std::uniform_real_distribution<double> wide(f.low, f.high), middle(std::max(f.low, -4.0), 4), exponent(-300, -2);
    std::vector<double> x = {0.75, 0.41421356237309503, 0.4142135623730951, 0.7071067811865475, 1.4142135623730951, 1, 2, 20,
                             3.141592653589793, 1.5707963267948966, 11.0, 355, 103993, 1048576, 1048575.5};
    for (int i = 0; i < 3000; ++i) x.push_back(i % 2 ? wide(random) : middle(random));
    for (int i = 0; i < 200; ++i) x.push_back(std::pow(10, exponent(random)) * (i % 2 && f.low < 0 ? -1 : 1));
    for (const KernelTable* set : tested_kernel_sets()) {
      const std::vector<double> y = results(*set, f, x);
      for (size_t i = 0; i < x.size(); ++i) {
        const Wide want = f.formula(x[i]);
        INFO(set->name << " op " << static_cast<int>(f.op) << " of " << x[i] << " got " << y[i] << " want " << static_cast<double>(want));
        // The reference rounds on its way: x / sqrt 2 before erfc, for example.
        const double units = std::string_view(set->name) == "reference" ? f.units + 2 + x[i] * x[i] : f.units;
        REQUIRE(std::fabs(y[i] - want) <= units * 0x1p-52L * std::max<Wide>(std::fabs(want), f.least) + std::numeric_limits<double>::min());
      }
    }
  }
}

TEST_CASE("functions of doubles at the ends of their range are what the formula gives", "[elementwise]") {
  const std::vector<double> x = {0.0, -0.0, kInf, -kInf, std::numeric_limits<double>::quiet_NaN(), 1.7e308, -1.7e308, 1e-307, -1e-307, 800, -800};
  for (const Function& f : functions()) {
    for (const KernelTable* set : tested_kernel_sets()) {
      const std::vector<double> y = results(*set, f, x);
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = reference_unary(f.op, x[i], f.alpha, f.beta);
        INFO(set->name << " op " << static_cast<int>(f.op) << " of " << x[i] << " got " << y[i] << " want " << want);
        if (std::isnan(want)) REQUIRE(std::isnan(y[i]));
        else if (std::isinf(want)) REQUIRE(y[i] == want);
        else REQUIRE(std::fabs(y[i] - want) <= 1e-14 * std::fabs(want) + std::numeric_limits<double>::min());
        if (x[i] == 0 && want == 0) REQUIRE(std::signbit(y[i]) == std::signbit(want));
      }
    }
  }
}

TEST_CASE("logarithms of subnormal doubles are exact where they are not flushed", "[elementwise]") {
  const Function log = functions().front();
  const std::vector<double> x = {5e-324, 1e-310, 2.2250738585072009e-308, 2.2250738585072014e-308};
  for (const KernelTable* set : tested_kernel_sets()) {
    const std::vector<double> y = results(*set, log, x);
    for (size_t i = 0; i < x.size(); ++i) REQUIRE(std::fabs(y[i] - std::log(static_cast<Wide>(x[i]))) <= 1.5 * 0x1p-52 * 745);
  }
}

TEST_CASE("functions of doubles at every length, at guard pages", "[elementwise]") {
  std::mt19937 random(13);
  std::uniform_real_distribution<double> near(0.1, 3);
  for (const KernelTable* set : tested_kernel_sets()) {
    const auto longest = static_cast<size_t>(4 * set->lanes + 1);
    std::vector<double> x(longest);
    for (double& v : x) v = near(random);
    for (const Function& f : functions()) {
      const std::vector<double> whole = results(*set, f, x);
      for (size_t n = 1; n < longest; ++n) {
        svengine::tests::GuardedBuffer<double> part(n), y(n);
        std::copy_n(x.begin(), n, part.begin());
        UnaryArgs args{f.op, DType::f64, part.data(), y.data(), static_cast<int64_t>(n)};
        args.alpha = f.alpha, args.beta = f.beta;
        run_tasks(set->elementwise->unary, args);
        REQUIRE(y.intact());
        REQUIRE(std::equal(y.begin(), y.end(), whole.begin()));
      }
    }
  }
}

TEST_CASE("every function of floats is one of doubles", "[elementwise]") {
  for (const KernelTable* set : tested_kernel_sets())
    for (int op = 0; op < kUnaryOpCount; ++op) {
      INFO(set->name << " op " << op);
      CHECK(set->elementwise->has_unary(static_cast<UnaryOp>(op), DType::f64) == set->elementwise->has_unary(static_cast<UnaryOp>(op), DType::f32));
    }
}
}  // namespace elementwise_unary_f64_test
