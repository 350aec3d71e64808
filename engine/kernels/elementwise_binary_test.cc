// Operations on two operands against plain loops: every type, broadcasting pattern, activation and split.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/kernels/elementwise.h"
#include "engine/kernels/elementwise_test_util.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/elementwise.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace elementwise_binary_test {
using svengine::DType;
using namespace svengine::kernels;
using namespace svengine::kernels::elementwise_test;
using svengine::tests::run_tasks;
using svengine::tests::same_values;

static_assert(static_cast<int>(DType::bf16) == static_cast<int>(svengine::DType::bf16));
static_assert(static_cast<int>(DType::boolean) == static_cast<int>(svengine::DType::boolean));
static_assert(static_cast<int>(DType::u64) == static_cast<int>(svengine::DType::u64));

namespace {

const std::vector<std::vector<Dims>>& patterns() {
  static const std::vector<std::vector<Dims>> shapes = {
      {{67}, {67}},                            // alike
      {{5, 33}, {1}},                          // a scalar
      {{1}, {5, 33}},                          //
      {{}, {}},                                // no dimension at all
      {{7, 130}, {130}},                       // a row for every row
      {{7, 130}, {7, 1}},                      // a value for every row
      {{2, 3, 4, 5}, {3, 1, 1}},               // per channel, plain layout
      {{2, 2, 9, 16}, {1, 2, 1, 16}},          // per channel, blocked layout of 16 lanes
      {{2, 2, 9, 8}, {1, 2, 1, 8}},            // and of 8
      {{1, 2, 1, 16}, {2, 2, 9, 16}},          //
      {{3, 1, 5}, {4, 1}},                     // both broadcast
      {{2, 1, 3, 1, 2}, {1, 3, 1, 2, 1}},      // in turns
      {{40, 3}, {3}},                          // narrower than a vector
      {{40, 3}, {40, 1}},                      //
      {{6, 35}, {1, 35}},                      // more than two vectors
      {{2, 0, 3}, {3}},                        // empty
      {{2, 3, 2, 3, 2, 3, 2, 2}, {2, 1, 2, 1, 2, 1, 2, 1}},  // eight dimensions
      // A third shape is the result's alone: both operands repeat along its innermost dimension.
      {{1}, {1}, {9}},                         // one result
      {{1, 1}, {1}, {1, 70}},                  //
      {{2, 1}, {2, 1}, {2, 9}},                // a result for every row
      {{40, 1}, {1, 1}, {40, 3}},              // narrower than a vector, many rows
      {{40, 1}, {40, 1}, {40, 35}},            //
      {{3, 1}, {1}, {3, 20000}},               // rows in pieces
      {{2, 3, 1}, {3, 1}, {2, 3, 5}},          //
  };
  return shapes;
}

template <class T, class Result>
bool is_right(BinaryOp op, T a, T b, Result got) {
  if constexpr (std::is_floating_point_v<T>) {
    const double want = reference_binary(op, a, b);
    if (std::is_same_v<T, float> && !gives_bool(op))
      return svengine::tests::ulp_error(static_cast<float>(got), want) <= (op == BinaryOp::kPow ? 4 : 0.51);
    return std::isnan(want) ? std::isnan(static_cast<double>(got)) : std::fabs(static_cast<double>(got) - want) <= 1e-14 * std::fabs(want);
  } else {
    return +got == +reference_binary_integer(op, a, b);
  }
}

template <class T, class Result>
void check_result(const KernelTable* set, BinaryOp op, T a, T b, Result got) {
  if (is_right(op, a, b, got)) return;  // millions of results: the message is made for a wrong one only
  INFO(label(set, static_cast<int>(op), type_of<T>()) << ": " << +a << ", " << +b << " gives " << +got);
  FAIL("not what the reference says");
}

template <class T, class Result>
void check_binary(const KernelTable* set, BinaryOp op, DType type, const std::vector<Dims>& shapes) {
  std::mt19937 random(5);
  const Dims output = common_shape(shapes);
  GuardedBuffer<T> a = filled<T>(volume(shapes[0]), random), b = filled<T>(volume(shapes[1]), random);
  if (type == DType::boolean) {
    for (T& x : a) x = x != 0;
    for (T& x : b) x = x != 0;
  }
  if constexpr (!std::is_floating_point_v<T>)
    for (T& x : b) x = op == BinaryOp::kPow && x > T(30) ? T(x % 31) : x;  // the reference counts up to it
  GuardedBuffer<Result> y(static_cast<size_t>(volume(output)));
  BinaryArgs args;
  args.op = op, args.type = type;
  args.a = a.data(), args.b = b.data(), args.y = y.data();
  args.broadcast = broadcast_of(output, shapes);
  run_tasks(set->elementwise->binary, args);
  reference_broadcast(output, shapes, [&](int64_t i, const std::vector<int64_t>& at) {
    check_result(set, op, a[static_cast<size_t>(at[0])], b[static_cast<size_t>(at[1])], y[static_cast<size_t>(i)]);
  });
  REQUIRE(y.intact());
}

template <class T>
void check_type(const KernelTable* set, DType type, const std::vector<std::vector<Dims>>& all) {
  for (int op = 0; op < kBinaryOpCount; ++op) {
    if (!set->elementwise->has_binary(static_cast<BinaryOp>(op), type)) continue;
    for (const auto& shapes : all) {
      if (gives_bool(static_cast<BinaryOp>(op))) check_binary<T, uint8_t>(set, static_cast<BinaryOp>(op), type, shapes);
      else check_binary<T, T>(set, static_cast<BinaryOp>(op), type, shapes);
    }
  }
}

}  // namespace

TEST_CASE("every operation, type and broadcasting pattern", "[elementwise]") {
  const auto& all = patterns();
  const std::vector<std::vector<Dims>> few = {all[0], all[1], all[2], all[5], all[10], all[17], all[20], all[21]};
  for (const KernelTable* set : tested_kernel_sets()) {
    check_type<float>(set, DType::f32, all);
    check_type<int32_t>(set, DType::i32, all);
    check_type<int64_t>(set, DType::i64, all);
    check_type<uint8_t>(set, DType::boolean, all);
    check_type<double>(set, DType::f64, few);
    check_type<int8_t>(set, DType::i8, few);
    check_type<uint8_t>(set, DType::u8, few);
    check_type<int16_t>(set, DType::i16, few);
    check_type<uint16_t>(set, DType::u16, few);
    check_type<uint32_t>(set, DType::u32, few);
    check_type<uint64_t>(set, DType::u64, few);
  }
}

TEST_CASE("what the contract names is there", "[elementwise]") {
  const DType numbers[] = {DType::f32, DType::f64, DType::i8, DType::u8, DType::i16,
                                 DType::u16, DType::i32, DType::u32, DType::i64, DType::u64};
  for (const KernelTable* set : tested_kernel_sets()) {
    for (const DType type : numbers) {
      const bool is_float = type == DType::f32 || type == DType::f64;
      const bool is_unsigned = type == DType::u8 || type == DType::u16 || type == DType::u32 ||
                               type == DType::u64;
      for (int op = 0; op < kBinaryOpCount; ++op) {
        const BinaryOp b = static_cast<BinaryOp>(op);
        const bool logical = b >= BinaryOp::kAnd && b <= BinaryOp::kXor, shift = b >= BinaryOp::kShiftLeft;
        const bool bitwise = b >= BinaryOp::kBitwiseAnd && !shift;
        const bool expected = !logical && (!bitwise || !is_float) && (!shift || is_unsigned);
        INFO(label(set, op, type));
        CHECK(set->elementwise->has_binary(b, type) == expected);
      }
    }
    for (int op = 0; op < kUnaryOpCount; ++op)
      CHECK(set->elementwise->has_unary(static_cast<UnaryOp>(op), DType::f32) ==
            (op != static_cast<int>(UnaryOp::kNot) && op != static_cast<int>(UnaryOp::kBitwiseNot)));
  }
}

TEST_CASE("NaN, infinities and signed zeros in comparisons, minimum and maximum", "[elementwise]") {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> special = {0, -0.0f, 1, -1, infinity, -infinity, nan, 0x1p-149f};
  std::vector<float> a, b;
  for (const float x : special)
    for (const float y : special) a.push_back(x), b.push_back(y);
  const Dims shape = {static_cast<int64_t>(a.size())};
  for (const KernelTable* set : tested_kernel_sets()) {
    for (const BinaryOp op : {BinaryOp::kMin, BinaryOp::kMax, BinaryOp::kEqual, BinaryOp::kGreater, BinaryOp::kLess,
                              BinaryOp::kGreaterOrEqual, BinaryOp::kLessOrEqual, BinaryOp::kAdd, BinaryOp::kMul, BinaryOp::kPRelu}) {
      std::vector<float> y(a.size());
      std::vector<uint8_t> truth(a.size());
      BinaryArgs args;
      args.op = op, args.a = a.data(), args.b = b.data();
      args.y = gives_bool(op) ? static_cast<void*>(truth.data()) : y.data();
      args.broadcast = broadcast_of(shape, {shape, shape});
      run_tasks(set->elementwise->binary, args);
      for (size_t i = 0; i < a.size(); ++i) {
        if (gives_bool(op)) check_result(set, op, a[i], b[i], truth[i]);
        else check_result(set, op, a[i], b[i], y[i]);
      }
    }
  }
}

TEST_CASE("an operation with its activation equals one after the other", "[elementwise]") {
  std::mt19937 random(6);
  for (const KernelTable* set : tested_kernel_sets()) {
    for (const auto& shapes : patterns()) {
      const Dims output = common_shape(shapes);
      const GuardedBuffer<float> a = filled<float>(volume(shapes[0]), random), b = filled<float>(volume(shapes[1]), random);
      for (int kind = 0; kind < kActivationCount; ++kind) {
        GuardedBuffer<float> y(static_cast<size_t>(volume(output)));
        BinaryArgs args;
        args.a = a.data(), args.b = b.data(), args.y = y.data();
        args.op = kind % 2 ? BinaryOp::kAdd : BinaryOp::kMul;
        args.broadcast = broadcast_of(output, shapes);
        args.activation = {static_cast<Activation>(kind), 0.25f, 0.75f};
        run_tasks(set->elementwise->binary, args);
        reference_broadcast(output, shapes, [&](int64_t i, const std::vector<int64_t>& at) {
          const float sum = static_cast<float>(reference_binary(args.op, a[static_cast<size_t>(at[0])],
                                                                b[static_cast<size_t>(at[1])]));
          const double want = reference_activation(sum, args.activation), got = y[static_cast<size_t>(i)];
          if (std::fabs(got - want) <= activation_error_bound(sum, want, 0, args.activation)) return;
          INFO(set->name << " activation " << kind << " of " << sum << " got " << got << " want " << want);
          FAIL("not what the reference says");
        });
        REQUIRE(y.intact());
      }
    }
  }
}

TEST_CASE("remainders of floats are exact, whatever the operands", "[elementwise]") {
  std::mt19937 random(12);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> a, b;
  const auto add = [&](float x, float y) { a.push_back(x), b.push_back(y); };
  for (const float x : {0.0f, -0.0f, 1.0f, -3.5f, 1e-40f, -0x1p-126f, 0x1p-101f, 0x1p-99f, 0x1.fffffep127f, kInfinity, -kInfinity, std::nanf("")})
    for (const float y :
         {0.0f, -0.0f, 1.0f, -0.1f, 3e-41f, 0x1p-126f, 0x1.fffffep-101f, 0x1p-100f, 0x1p100f, -0x1p127f, kInfinity, -kInfinity, std::nanf("")})
      add(x, y);
  for (int i = 0; i < 200000; ++i) {
    const auto number = [&] {
      return std::ldexp(static_cast<float>(random() % (1u << 24)), static_cast<int>(random() % 30) - 35) * (random() % 2 ? 1.0f : -1.0f);
    };
    add(number(), number());
  }
  for (int i = 0; i < 50000; ++i) {  // whole quotients and their neighbours
    const float y = std::ldexp(static_cast<float>(random() % (1u << 24) | 1u), -20), x = static_cast<float>(random() % (1u << 21)) * y;
    add(std::nextafter(x, random() % 2 ? 0.0f : kInfinity), y), add(x, -y);
  }
  for (int i = 0; i < 50000; ++i) {  // any bits
    float x[2];
    for (float& v : x) {
      const uint32_t bits = static_cast<uint32_t>(random());
      std::memcpy(&v, &bits, sizeof v);
    }
    add(x[0], x[1]);
  }
  std::vector<float> y(a.size()), want(a.size());
  for (size_t i = 0; i < a.size(); ++i) want[i] = std::fmod(a[i], b[i]);
  for (const KernelTable* set : tested_kernel_sets()) {
    BinaryArgs args;
    args.op = BinaryOp::kFmod, args.a = a.data(), args.b = b.data(), args.y = y.data();
    args.broadcast.size[0] = static_cast<int64_t>(a.size()), args.broadcast.stride[0][0] = args.broadcast.stride[1][0] = 1;
    run_tasks(set->elementwise->binary, args);
    for (size_t i = 0; i < a.size(); ++i) {
      INFO(set->name << ": fmod(" << a[i] << ", " << b[i] << ") is " << y[i] << ", not " << want[i]);
      if (!same_values(&y[i], &want[i], 1)) FAIL();
    }
  }
}

TEST_CASE("results do not depend on the split into tasks", "[elementwise]") {
  std::mt19937 random(7);
  const std::vector<std::vector<Dims>> large = {{{3 * kElementwiseTask + 77}, {3 * kElementwiseTask + 77}},
                                                {{2, kElementwiseTask + 5}, {2, 1}},
                                                {{1500, 40}, {40}},
                                                {{3, 7, 100, 16}, {7, 1, 16}}};
  for (const KernelTable* set : tested_kernel_sets()) {
    for (const auto& shapes : large) {
      const Dims output = common_shape(shapes);
      const size_t n = static_cast<size_t>(volume(output));
      const GuardedBuffer<float> a = filled<float>(volume(shapes[0]), random), b = filled<float>(volume(shapes[1]), random);
      GuardedBuffer<float> once(n), often(n);
      BinaryArgs args;
      args.op = BinaryOp::kDiv;
      args.activation.kind = Activation::kSigmoid;
      args.a = a.data(), args.b = b.data(), args.y = once.data();
      args.broadcast = broadcast_of(output, shapes);
      CHECK(set->elementwise->binary.tasks(args) > 1);
      run_tasks(set->elementwise->binary, args, 1);
      args.y = often.data();
      run_tasks(set->elementwise->binary, args, set->elementwise->binary.tasks(args));
      CHECK(same_values(once.data(), often.data(), n));

      UnaryArgs unary{UnaryOp::kGelu, DType::f32, once.data(), often.data(), static_cast<int64_t>(n)};
      GuardedBuffer<float> whole(n);
      run_tasks(set->elementwise->unary, unary, set->elementwise->unary.tasks(unary));
      unary.y = whole.data();
      run_tasks(set->elementwise->unary, unary, 1);
      CHECK(same_values(whole.data(), often.data(), n));
    }
  }
}
}  // namespace elementwise_binary_test
