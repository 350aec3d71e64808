// Functions of one operand: every length, type and sign. Their accuracy is the subject of math_test.cc.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/elementwise_test_util.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/elementwise.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace elementwise_unary_test {
using svengine::DType;
using namespace svengine::kernels;
using namespace svengine::kernels::elementwise_test;
using svengine::tests::run_tasks;
using svengine::tests::same_values;

TEST_CASE("every function at every length up to four vectors and one, at guard pages", "[elementwise]") {
  std::mt19937 random(1);
  for (const KernelTable* set : tested_kernel_sets()) {
    const int longest = 4 * set->lanes + 1;
    for (int op = 0; op < kUnaryOpCount; ++op) {
      UnaryArgs args;
      args.op = static_cast<UnaryOp>(op);
      if (!set->elementwise->has_unary(args.op, DType::f32)) continue;
      const bool to_bool = args.op == UnaryOp::kIsNaN || args.op == UnaryOp::kIsInf;
      args.alpha = 0.5, args.beta = 1.5;
      // The whole as reference: accuracy is math_test's subject.
      const GuardedBuffer<float> x = filled<float>(longest, random);
      GuardedBuffer<float> whole(x.size());
      GuardedBuffer<uint8_t> whole_bool(x.size());
      args.x = x.data(), args.n = longest;
      args.y = to_bool ? static_cast<void*>(whole_bool.data()) : whole.data();
      run_tasks(set->elementwise->unary, args);
      for (int n = 1; n < longest; ++n) {
        INFO(label(set, op, DType::f32) << " length " << n);
        GuardedBuffer<float> part(static_cast<size_t>(n)), y(part.size());
        GuardedBuffer<uint8_t> y_bool(part.size());
        std::copy_n(x.begin(), n, part.begin());
        args.x = part.data(), args.n = n;
        args.y = to_bool ? static_cast<void*>(y_bool.data()) : y.data();
        run_tasks(set->elementwise->unary, args);
        REQUIRE((to_bool ? same_values(y_bool.data(), whole_bool.data(), y.size())
                         : same_values(y.data(), whole.data(), y.size())));
        REQUIRE((y.intact() && y_bool.intact()));
      }
    }
  }
}

TEST_CASE("functions in place equal functions elsewhere", "[elementwise]") {
  std::mt19937 random(2);
  for (const KernelTable* set : tested_kernel_sets()) {
    GuardedBuffer<float> x = filled<float>(1000, random), y(1000);
    UnaryArgs args{UnaryOp::kTanh, DType::f32, x.data(), y.data(), 1000};
    run_tasks(set->elementwise->unary, args);
    args.y = x.data();
    run_tasks(set->elementwise->unary, args);
    CHECK(same_values(x.data(), y.data(), 1000));
  }
}

TEST_CASE("detection of infinities by sign, and of NaN", "[elementwise]") {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {0, infinity, -infinity, nan, 1, -0.0f, infinity};
  for (const KernelTable* set : tested_kernel_sets()) {
    for (const bool negative : {false, true}) {
      for (const bool positive : {false, true}) {
        std::vector<uint8_t> y(x.size());
        UnaryArgs args{UnaryOp::kIsInf, DType::f32, x.data(), y.data(), static_cast<int64_t>(x.size())};
        args.detect_negative = negative, args.detect_positive = positive;
        run_tasks(set->elementwise->unary, args);
        CHECK(y == std::vector<uint8_t>{0, positive, negative, 0, 0, 0, positive});
        args.op = UnaryOp::kIsNaN;
        run_tasks(set->elementwise->unary, args);
        CHECK(y == std::vector<uint8_t>{0, 0, 0, 1, 0, 0, 0});
      }
    }
  }
}

namespace {

template <class T>
T reference_unary_integer(UnaryOp op, T x, int64_t low, int64_t high) {
  switch (op) {
    case UnaryOp::kIdentity: return x;
    case UnaryOp::kAbs: return x < 0 ? T(0 - static_cast<uint64_t>(x)) : x;
    case UnaryOp::kNeg: return T(0 - static_cast<uint64_t>(x));
    case UnaryOp::kSign: return x > 0 ? T(1) : x < 0 ? T(-1) : T(0);
    case UnaryOp::kRelu: return std::max(x, T(0));
    case UnaryOp::kClip: return static_cast<T>(std::clamp<__int128>(x, low, high));
    case UnaryOp::kBitwiseNot: return T(~x);
    default: return x;
  }
}

template <class T>
void check_unary_integer(const KernelTable* set) {
  std::mt19937 random(3);
  const GuardedBuffer<T> x = filled<T>(131, random);
  for (int op = 0; op < kUnaryOpCount; ++op) {
    UnaryArgs args;
    args.op = static_cast<UnaryOp>(op), args.type = type_of<T>();
    if (!set->elementwise->has_unary(args.op, args.type)) continue;
    GuardedBuffer<T> y(x.size());
    args.x = x.data(), args.y = y.data(), args.n = 131;
    args.low = 2, args.high = 17;
    run_tasks(set->elementwise->unary, args);
    for (size_t i = 0; i < x.size(); ++i) {
      INFO(label(set, op, args.type) << " of " << +x[i]);
      REQUIRE(y[i] == reference_unary_integer(args.op, x[i], args.low, args.high));
    }
    REQUIRE(y.intact());
  }
}

}  // namespace

TEST_CASE("functions of integers, bool and double", "[elementwise]") {
  for (const KernelTable* set : tested_kernel_sets()) {
    check_unary_integer<int8_t>(set);
    check_unary_integer<uint8_t>(set);
    check_unary_integer<int16_t>(set);
    check_unary_integer<uint16_t>(set);
    check_unary_integer<int32_t>(set);
    check_unary_integer<uint32_t>(set);
    check_unary_integer<int64_t>(set);
    check_unary_integer<uint64_t>(set);
    for (const UnaryOp op : {UnaryOp::kAbs, UnaryOp::kNeg, UnaryOp::kSign, UnaryOp::kClip, UnaryOp::kRelu,
                             UnaryOp::kBitwiseNot}) {
      CHECK(set->elementwise->has_unary(op, DType::i64));
      CHECK(set->elementwise->has_unary(op, DType::i32));
    }

    const std::vector<uint8_t> truth = {0, 1, 1, 0, 1};
    std::vector<uint8_t> inverse(5);
    run_tasks(set->elementwise->unary, {UnaryOp::kNot, DType::boolean, truth.data(), inverse.data(), 5});
    CHECK(inverse == std::vector<uint8_t>{1, 0, 0, 1, 0});

    std::mt19937 random(4);
    const GuardedBuffer<double> x = filled<double>(100, random);
    for (int op = 0; op < kUnaryOpCount; ++op) {
      UnaryArgs args;
      args.op = static_cast<UnaryOp>(op), args.type = DType::f64;
      if (!set->elementwise->has_unary(args.op, args.type) || args.op == UnaryOp::kIsNaN || args.op == UnaryOp::kIsInf) continue;
      GuardedBuffer<double> y(x.size());
      args.x = x.data(), args.y = y.data(), args.n = 100;
      args.alpha = -1.5, args.beta = 2.5;
      run_tasks(set->elementwise->unary, args);
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = reference_unary(args.op, x[i], args.alpha, args.beta);
        INFO(label(set, op, args.type) << " of " << x[i] << " got " << y[i] << " want " << want);
        REQUIRE((std::isnan(want) ? std::isnan(y[i]) : std::fabs(y[i] - want) <= 1e-14 * std::fabs(want)));
      }
    }
  }
}

TEST_CASE("exp of doubles from underflow to overflow", "[elementwise]") {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kSmallest = std::numeric_limits<double>::denorm_min();
  std::mt19937 random(11);
  std::uniform_real_distribution<double> anywhere(-750, 715), near(-1, 1);
  std::vector<double> x = {0.0,    -0.0,   5e-324, -5e-324, kInf,   -kInf,   709.782712893384, 709.7827128933841, 710, 1e308,
                           -708.3, -708.4, -745.1, -745.14, -746.5, -1e308, 0.34657359027997264, -0.34657359027997264};
  for (int i = 0; i < 4000; ++i) x.push_back(i % 2 ? anywhere(random) : near(random));
  for (const KernelTable* set : tested_kernel_sets()) {
    for (size_t n = 1; n < 40; ++n) {  // every tail
      GuardedBuffer<double> y(n);
      run_tasks(set->elementwise->unary, {UnaryOp::kExp, DType::f64, x.data(), y.data(), static_cast<int64_t>(n)});
      REQUIRE(y.intact());
    }
    std::vector<double> y(x.size());
    run_tasks(set->elementwise->unary, {UnaryOp::kExp, DType::f64, x.data(), y.data(), static_cast<int64_t>(x.size())});
    for (size_t i = 0; i < x.size(); ++i) {
      const long double want = std::exp(static_cast<long double>(x[i]));
      INFO(set->name << " of " << x[i] << " got " << y[i]);
      if (want > std::numeric_limits<double>::max()) REQUIRE(y[i] == kInf);
      else REQUIRE(std::fabs(y[i] - want) <= 1.5L * std::max<long double>(want * 0x1p-52, kSmallest));
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    double of_nan = 0;
    run_tasks(set->elementwise->unary, {UnaryOp::kExp, DType::f64, &nan, &of_nan, 1});
    REQUIRE(std::isnan(of_nan));
  }
}
}  // namespace elementwise_unary_test
