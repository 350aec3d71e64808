// Accuracy of the vector mathematics, seen through the elementwise kernels: sweeps over all magnitudes of float against the
// C library in double precision. SVENGINE_SWEEP_STRIDE sets how many floats lie between two samples (1: every float there is).
#include <catch2/catch.hpp>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/elementwise.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace math_test {
using svengine::DType;
using namespace svengine::kernels;
using svengine::tests::run_tasks;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

uint64_t sweep_stride() {
  const char* text = std::getenv("SVENGINE_SWEEP_STRIDE");
  return text ? std::strtoull(text, nullptr, 10) : 20011;
}

const std::vector<float>& special_values() {
  static const std::vector<float> values = {
      0.0f, -0.0f, kInfinity, -kInfinity, kNaN, 1.0f, -1.0f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 0x1p-126f, -0x1p-126f, 0x1p-149f,
      -0x1p-149f, 0x1.fffffcp-127f, 0x1.fffffep127f, -0x1.fffffep127f, 0x1.fffffep-1f, 0x1.000002p0f, -0x1.fffffep-1f,
      88.72283f, 88.72284f, 89.5f, -87.33654f, -87.33655f, -88.3f, -88.8f, -103.97f, -103.98f, -104.1f, 65536.0f, 65537.0f,
      0x1p23f, 0x1p24f, 8388607.5f, 4194303.5f, 3.92f, 3.93f, 4.0f, 9.0f, 9.2f, 18.0f, 20.0f, 0x1p26f, 0x1.921fb6p1f, 0x1.921fb6p0f};
  return values;
}

/// Error allowed: ulp units in the last place of the result, `absolute`, and `relative` times |x|. The last two are for
/// formulas that cancel or underflow early.
struct Bound {
  UnaryOp op;
  double ulp;
  double absolute = 0, relative = 0;
  double alpha = 0, beta = 0;
};

const Bound kBounds[] = {
    {UnaryOp::kIdentity, 0},
    {UnaryOp::kAbs, 0},
    {UnaryOp::kNeg, 0},
    {UnaryOp::kSign, 0},
    {UnaryOp::kFloor, 0},
    {UnaryOp::kCeil, 0},
    {UnaryOp::kRound, 0},
    {UnaryOp::kSqrt, 1},
    {UnaryOp::kReciprocal, 1},
    {UnaryOp::kExp, 1.5},
    {UnaryOp::kLog, 1.5},
    {UnaryOp::kSin, 2},
    {UnaryOp::kCos, 2},
    {UnaryOp::kTan, 4},
    {UnaryOp::kAsin, 3},
    {UnaryOp::kAcos, 3},
    {UnaryOp::kAtan, 3},
    {UnaryOp::kSinh, 3},
    {UnaryOp::kCosh, 2},
    {UnaryOp::kAsinh, 3},
    {UnaryOp::kAcosh, 3},
    {UnaryOp::kAtanh, 3},
#define SVENGINE_ACTIVATION(Name, name, from, steepest, accuracy, ...) {UnaryOp::k##Name, SVENGINE_UNPACK accuracy},
#include "engine/kernels/activation.inc"
};

double ulp_of(double want) {
  return std::ldexp(1.0, std::max(std::ilogb(std::max(std::fabs(want), double{std::numeric_limits<float>::min()})), -126) - 23);
}

bool within(const Bound& bound, float x, float got, double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want)) return got == static_cast<float>(want);
  // To a float, infinity is what comes after the largest number.
  const double value = std::isinf(got) ? std::copysign(0x1p128, got) : got;
  if (std::fabs(want) > 0x1p128) want = std::copysign(0x1p128, want);
  const double relative = std::isfinite(x) ? bound.relative * std::fabs(double{x}) : 0;
  return std::fabs(value - want) <= bound.ulp * ulp_of(want) + bound.absolute + relative;
}

void check(const KernelTable& set, const Bound& bound, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  UnaryArgs args;
  args.op = bound.op;
  args.x = x.data(), args.y = y.data(), args.n = static_cast<int64_t>(x.size());
  args.alpha = bound.alpha, args.beta = bound.beta;
  run_tasks(set.elementwise->unary, args);
  const double alpha = static_cast<float>(bound.alpha), beta = static_cast<float>(bound.beta);
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = reference_unary(bound.op, x[i], alpha, beta);
    if (within(bound, x[i], y[i], want)) continue;
    INFO(set.name << " op " << static_cast<int>(bound.op) << " x " << x[i] << " got " << y[i] << " want " << want);
    FAIL("beyond the stated bound");
  }
}

}  // namespace

TEST_CASE("every function keeps its bound at every magnitude", "[math]") {
  std::vector<float> x = special_values();
  for (uint64_t bits = 0; bits <= 0xffffffff; bits += sweep_stride())
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (const KernelTable* set : tested_kernel_sets())
    for (const Bound& bound : kBounds) check(*set, bound, x);
}

TEST_CASE("every function keeps its bound where networks use it", "[math]") {
  std::vector<float> x;
  for (int i = -20000; i <= 20000; ++i) x.push_back(static_cast<float>(i) * 0x1.0624dep-10f);  // -20 to 20
  for (const KernelTable* set : tested_kernel_sets())
    for (const Bound& bound : kBounds) check(*set, bound, x);
}

TEST_CASE("a value does not depend on its neighbours", "[math]") {
  // A vector with an argument that needs the slow reduction of sin, or the processor's division, among ordinary ones.
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-8, 8);
  std::vector<float> calm(256), mixed(256);
  for (size_t i = 0; i < calm.size(); ++i) {
    calm[i] = uniform(random);
    mixed[i] = i % 7 == 3 ? special_values()[i % special_values().size()] : i % 5 == 2 ? calm[i] * 0x1p40f : calm[i];
  }
  for (const KernelTable* set : tested_kernel_sets()) {
    for (const Bound& bound : kBounds) {
      std::vector<float> first(256), second(256);
      UnaryArgs args{bound.op, DType::f32, calm.data(), first.data(), 256, bound.alpha, bound.beta};
      run_tasks(set->elementwise->unary, args);
      args.x = mixed.data(), args.y = second.data();
      run_tasks(set->elementwise->unary, args);
      for (size_t i = 0; i < calm.size(); ++i) {
        if (calm[i] != mixed[i]) continue;
        INFO(set->name << " op " << static_cast<int>(bound.op) << " element " << i << " x " << calm[i]);
        REQUIRE(svengine::tests::same_values(&first[i], &second[i], 1));
      }
    }
  }
}

TEST_CASE("zero keeps its sign where the function is odd, and where it is a multiple of its operand", "[math]") {
  const std::vector<float> x = {0.0f, -0.0f, 1.0f, -0.0f, 0.0f};
  for (const KernelTable* set : tested_kernel_sets())
    for (const Bound& bound : kBounds) {
      if (bound.op == UnaryOp::kRelu || bound.op == UnaryOp::kClip) continue;  // the larger of 0 and -0 is either
      std::vector<float> y(x.size());
      const auto n = static_cast<int64_t>(x.size());
      run_tasks(set->elementwise->unary, {bound.op, DType::f32, x.data(), y.data(), n, bound.alpha, bound.beta});
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = reference_unary(bound.op, x[i], static_cast<float>(bound.alpha), static_cast<float>(bound.beta));
        if (want != 0) continue;
        INFO(set->name << " op " << static_cast<int>(bound.op) << " x " << x[i] << " got " << y[i]);
        CHECK((y[i] == 0 && std::signbit(y[i]) == std::signbit(want)));
      }
    }
}

namespace {

void check_pairs(const KernelTable& set, BinaryOp op, double ulp, double absolute, const std::vector<float>& a,
                 const std::vector<float>& b) {
  std::vector<float> y(a.size());
  BinaryArgs args;
  args.op = op;
  args.a = a.data(), args.b = b.data(), args.y = y.data();
  args.broadcast.size[0] = static_cast<int64_t>(a.size());
  args.broadcast.stride[0][0] = args.broadcast.stride[1][0] = 1;
  run_tasks(set.elementwise->binary, args);
  for (size_t i = 0; i < a.size(); ++i) {
    const double want = reference_binary(op, a[i], b[i]);
    if (within({UnaryOp::kIdentity, ulp, absolute}, 0, y[i], want)) continue;
    INFO(set.name << " op " << static_cast<int>(op) << " of " << a[i] << " and " << b[i] << " got " << y[i] << " want " << want);
    FAIL("beyond the stated bound");
  }
}

/// Every special value with every other, and random pairs of all magnitudes.
void make_pairs(std::vector<float>& a, std::vector<float>& b, int count) {
  for (const float x : special_values())
    for (const float y : special_values()) a.push_back(x), b.push_back(y);
  std::mt19937 random(2);
  for (int i = 0; i < count; ++i) {
    a.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    b.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  }
}

}  // namespace

TEST_CASE("division is within one unit everywhere", "[math]") {
  std::vector<float> a, b;
  make_pairs(a, b, 100000);
  // Dividends too small for a residual may lose what flushing subnormals loses.
  for (const KernelTable* set : tested_kernel_sets()) check_pairs(*set, BinaryOp::kDiv, 1, 0x1p-126, a, b);
}

TEST_CASE("a quotient that is zero has the sign of its operands", "[math]") {
  const std::vector<float> a = {-0.0f, 0.0f, -0.0f, 0.0f, -0.0f, -0.0f}, b = {3, -3, -0x1p-100f, 0x1p100f, kInfinity, 1};
  for (const KernelTable* set : tested_kernel_sets()) {
    std::vector<float> y(a.size());
    BinaryArgs args;
    args.op = BinaryOp::kDiv;
    args.a = a.data(), args.b = b.data(), args.y = y.data();
    args.broadcast.size[0] = static_cast<int64_t>(a.size());
    args.broadcast.stride[0][0] = args.broadcast.stride[1][0] = 1;
    run_tasks(set->elementwise->binary, args);
    for (size_t i = 0; i < a.size(); ++i) {
      INFO(set->name << ' ' << a[i] << " / " << b[i]);
      CHECK((y[i] == 0 && std::signbit(y[i]) == (std::signbit(a[i]) != std::signbit(b[i]))));
    }
  }
}

TEST_CASE("pow keeps its bound and IEEE 754's special cases", "[math]") {
  std::vector<float> a, b;
  make_pairs(a, b, 20000);
  for (const float x : {-1.0f, 1.0f, -3.0f, 2.0f, 0.0f, -0.0f, kInfinity, -kInfinity, 0x1p-149f, -0x1p-149f})
    for (const float y : {3.0f, -3.0f, 4.0f, -4.0f, 0.5f, -0.5f, 16777215.0f, -16777215.0f, 16777216.0f, 0x1p30f, kInfinity, -kInfinity, kNaN})
      a.push_back(x), b.push_back(y);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-150, 150);
  for (int i = 0; i < 100000; ++i) {  // results of all magnitudes
    const float x =
        i % 2 ? std::bit_cast<float>(static_cast<uint32_t>(random() & 0x7f7fffff)) : 0.5f + static_cast<float>(random() % 4096) * 0x1p-11f;
    if (x == 0 || x == 1) continue;
    a.push_back(x), b.push_back(static_cast<float>(uniform(random) / std::log2(x)));
  }
  for (const KernelTable* set : tested_kernel_sets()) check_pairs(*set, BinaryOp::kPow, 4, 0, a, b);
}

TEST_CASE("zero keeps its sign where pow says so", "[math]") {
  const std::vector<float> a = {-0.0f, -0.0f, 0.0f, -kInfinity, -kInfinity, -2.0f}, b = {3, 2, 3, -3, -2, -155};
  const bool negative[] = {true, false, false, true, false, true};
  for (const KernelTable* set : tested_kernel_sets()) {
    std::vector<float> y(a.size());
    BinaryArgs args;
    args.op = BinaryOp::kPow;
    args.a = a.data(), args.b = b.data(), args.y = y.data();
    args.broadcast.size[0] = static_cast<int64_t>(a.size());
    args.broadcast.stride[0][0] = args.broadcast.stride[1][0] = 1;
    run_tasks(set->elementwise->binary, args);
    for (size_t i = 0; i < a.size(); ++i) {
      INFO(set->name << ' ' << a[i] << " ^ " << b[i]);
      CHECK(y[i] == 0);
      CHECK(std::signbit(y[i]) == negative[i]);
    }
  }
}
}  // namespace math_test
