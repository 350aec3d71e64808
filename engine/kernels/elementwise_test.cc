// The elementwise kernels against plain loops: every operation, type, length, broadcasting pattern and split.
#include "engine/kernels/elementwise.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/elementwise.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"

using namespace svengine::kernels;
using svengine::test::GuardedBuffer;
using svengine::test::run_tasks;
using svengine::test::same_values;

static_assert(static_cast<int>(ElementType::kBF16) == static_cast<int>(svengine::DType::bf16));
static_assert(static_cast<int>(ElementType::kBool) == static_cast<int>(svengine::DType::boolean));
static_assert(static_cast<int>(ElementType::kU64) == static_cast<int>(svengine::DType::u64));

namespace {

using Dims = std::vector<int64_t>;

template <class T>
constexpr ElementType type_of() {
  if (std::is_same_v<T, float>) return ElementType::kF32;
  if (std::is_same_v<T, double>) return ElementType::kF64;
  if (std::is_same_v<T, int8_t>) return ElementType::kI8;
  if (std::is_same_v<T, uint8_t>) return ElementType::kU8;
  if (std::is_same_v<T, int16_t>) return ElementType::kI16;
  if (std::is_same_v<T, uint16_t>) return ElementType::kU16;
  if (std::is_same_v<T, int32_t>) return ElementType::kI32;
  if (std::is_same_v<T, uint32_t>) return ElementType::kU32;
  if (std::is_same_v<T, int64_t>) return ElementType::kI64;
  return ElementType::kU64;
}

int64_t volume(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

/// Small numbers most of the time, the limits of the type sometimes.
template <class T>
T any_value(std::mt19937& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::uniform_real_distribution<double>(-8, 8)(random));
  } else {
    const T extremes[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T(-1), T(0), T(1)};
    return random() % 5 == 0 ? extremes[random() % 5] : static_cast<T>(static_cast<int>(random() % 41) - 20);
  }
}

template <class T>
GuardedBuffer<T> filled(int64_t n, std::mt19937& random) {
  GuardedBuffer<T> buffer(static_cast<size_t>(n));
  for (T& x : buffer) x = any_value<T>(random);
  return buffer;
}

Broadcast broadcast_of(const Dims& output, const std::vector<Dims>& operands) {
  const int64_t* dims[3];
  int ranks[3];
  for (size_t k = 0; k < operands.size(); ++k) dims[k] = operands[k].data(), ranks[k] = static_cast<int>(operands[k].size());
  Broadcast result;
  REQUIRE(make_broadcast(output.data(), static_cast<int>(output.size()), dims, ranks, static_cast<int>(operands.size()), &result));
  return result;
}

Dims common_shape(const std::vector<Dims>& operands) {
  size_t rank = 0;
  for (const Dims& d : operands) rank = std::max(rank, d.size());
  Dims output(rank, 1);
  for (const Dims& d : operands)
    for (size_t i = 0; i < d.size(); ++i)
      if (d[i] != 1) output[rank - d.size() + i] = d[i];
  return output;
}

bool gives_bool(BinaryOp op) { return op >= BinaryOp::kEqual && op <= BinaryOp::kXor; }

std::string label(const KernelTable* set, int op, ElementType type) {
  return std::string(set->name) + " op " + std::to_string(op) + " type " + std::to_string(static_cast<int>(type));
}

}  // namespace

TEST_CASE("every function at every length up to four vectors and one, at guard pages", "[elementwise]") {
  std::mt19937 random(1);
  for (const KernelTable* set : available_kernel_sets()) {
    const int longest = 4 * set->lanes + 1;
    for (int op = 0; op < kUnaryOpCount; ++op) {
      UnaryArgs args;
      args.op = static_cast<UnaryOp>(op);
      if (!set->elementwise->has_unary(args.op, ElementType::kF32)) continue;
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
        INFO(label(set, op, ElementType::kF32) << " length " << n);
        GuardedBuffer<float> part(static_cast<size_t>(n)), y(part.size());
        GuardedBuffer<uint8_t> y_bool(part.size());
        std::copy_n(x.begin(), n, part.begin());
        args.x = part.data(), args.n = n;
        args.y = to_bool ? static_cast<void*>(y_bool.data()) : y.data();
        run_tasks(set->elementwise->unary, args);
        REQUIRE((to_bool ? same_values(y_bool.data(), whole_bool.data(), y.size()) : same_values(y.data(), whole.data(), y.size())));
        REQUIRE((y.intact() && y_bool.intact()));
      }
    }
  }
}

TEST_CASE("functions in place equal functions elsewhere", "[elementwise]") {
  std::mt19937 random(2);
  for (const KernelTable* set : available_kernel_sets()) {
    GuardedBuffer<float> x = filled<float>(1000, random), y(1000);
    UnaryArgs args{UnaryOp::kTanh, ElementType::kF32, x.data(), y.data(), 1000};
    run_tasks(set->elementwise->unary, args);
    args.y = x.data();
    run_tasks(set->elementwise->unary, args);
    CHECK(same_values(x.data(), y.data(), 1000));
  }
}

TEST_CASE("detection of infinities by sign, and of NaN", "[elementwise]") {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {0, infinity, -infinity, nan, 1, -0.0f, infinity};
  for (const KernelTable* set : available_kernel_sets()) {
    for (const bool negative : {false, true}) {
      for (const bool positive : {false, true}) {
        std::vector<uint8_t> y(x.size());
        UnaryArgs args{UnaryOp::kIsInf, ElementType::kF32, x.data(), y.data(), static_cast<int64_t>(x.size())};
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
  for (const KernelTable* set : available_kernel_sets()) {
    check_unary_integer<int8_t>(set);
    check_unary_integer<uint8_t>(set);
    check_unary_integer<int16_t>(set);
    check_unary_integer<uint16_t>(set);
    check_unary_integer<int32_t>(set);
    check_unary_integer<uint32_t>(set);
    check_unary_integer<int64_t>(set);
    check_unary_integer<uint64_t>(set);
    for (const UnaryOp op : {UnaryOp::kAbs, UnaryOp::kNeg, UnaryOp::kSign, UnaryOp::kClip, UnaryOp::kRelu, UnaryOp::kBitwiseNot}) {
      CHECK(set->elementwise->has_unary(op, ElementType::kI64));
      CHECK(set->elementwise->has_unary(op, ElementType::kI32));
    }

    const std::vector<uint8_t> truth = {0, 1, 1, 0, 1};
    std::vector<uint8_t> inverse(5);
    run_tasks(set->elementwise->unary, {UnaryOp::kNot, ElementType::kBool, truth.data(), inverse.data(), 5});
    CHECK(inverse == std::vector<uint8_t>{1, 0, 0, 1, 0});

    std::mt19937 random(4);
    const GuardedBuffer<double> x = filled<double>(100, random);
    for (int op = 0; op < kUnaryOpCount; ++op) {
      UnaryArgs args;
      args.op = static_cast<UnaryOp>(op), args.type = ElementType::kF64;
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
  };
  return shapes;
}

template <class T, class Result>
bool is_right(BinaryOp op, T a, T b, Result got) {
  if constexpr (std::is_floating_point_v<T>) {
    const double want = reference_binary(op, a, b);
    if (std::is_same_v<T, float> && !gives_bool(op))
      return svengine::test::ulp_error(static_cast<float>(got), want) <= (op == BinaryOp::kPow ? 4 : 0.51);
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
void check_binary(const KernelTable* set, BinaryOp op, ElementType type, const std::vector<Dims>& shapes) {
  std::mt19937 random(5);
  const Dims output = common_shape(shapes);
  GuardedBuffer<T> a = filled<T>(volume(shapes[0]), random), b = filled<T>(volume(shapes[1]), random);
  if (type == ElementType::kBool) {
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
void check_type(const KernelTable* set, ElementType type, const std::vector<std::vector<Dims>>& all) {
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
  const std::vector<std::vector<Dims>> few = {all[0], all[1], all[2], all[5], all[10]};
  for (const KernelTable* set : available_kernel_sets()) {
    check_type<float>(set, ElementType::kF32, all);
    check_type<int32_t>(set, ElementType::kI32, all);
    check_type<int64_t>(set, ElementType::kI64, all);
    check_type<uint8_t>(set, ElementType::kBool, all);
    check_type<double>(set, ElementType::kF64, few);
    check_type<int8_t>(set, ElementType::kI8, few);
    check_type<uint8_t>(set, ElementType::kU8, few);
    check_type<int16_t>(set, ElementType::kI16, few);
    check_type<uint16_t>(set, ElementType::kU16, few);
    check_type<uint32_t>(set, ElementType::kU32, few);
    check_type<uint64_t>(set, ElementType::kU64, few);
  }
}

TEST_CASE("what the contract names is there", "[elementwise]") {
  const ElementType numbers[] = {ElementType::kF32, ElementType::kF64, ElementType::kI8, ElementType::kU8, ElementType::kI16,
                                 ElementType::kU16, ElementType::kI32, ElementType::kU32, ElementType::kI64, ElementType::kU64};
  for (const KernelTable* set : available_kernel_sets()) {
    for (const ElementType type : numbers) {
      const bool is_float = type == ElementType::kF32 || type == ElementType::kF64;
      const bool is_unsigned = type == ElementType::kU8 || type == ElementType::kU16 || type == ElementType::kU32 || type == ElementType::kU64;
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
      CHECK(set->elementwise->has_unary(static_cast<UnaryOp>(op), ElementType::kF32) ==
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
  for (const KernelTable* set : available_kernel_sets()) {
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
  for (const KernelTable* set : available_kernel_sets()) {
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
          const float sum = static_cast<float>(reference_binary(args.op, a[static_cast<size_t>(at[0])], b[static_cast<size_t>(at[1])]));
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

TEST_CASE("results do not depend on the split into tasks", "[elementwise]") {
  std::mt19937 random(7);
  const std::vector<std::vector<Dims>> large = {{{3 * kElementwiseTask + 77}, {3 * kElementwiseTask + 77}},
                                                {{2, kElementwiseTask + 5}, {2, 1}},
                                                {{1500, 40}, {40}},
                                                {{3, 7, 100, 16}, {7, 1, 16}}};
  for (const KernelTable* set : available_kernel_sets()) {
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

      UnaryArgs unary{UnaryOp::kGelu, ElementType::kF32, once.data(), often.data(), static_cast<int64_t>(n)};
      GuardedBuffer<float> whole(n);
      run_tasks(set->elementwise->unary, unary, set->elementwise->unary.tasks(unary));
      unary.y = whole.data();
      run_tasks(set->elementwise->unary, unary, 1);
      CHECK(same_values(whole.data(), often.data(), n));
    }
  }
}

namespace {

template <class T>
void check_where(const KernelTable* set, const std::vector<Dims>& shapes) {
  std::mt19937 random(8);
  const Dims output = common_shape(shapes);
  GuardedBuffer<uint8_t> condition(static_cast<size_t>(volume(shapes[0])));
  for (uint8_t& c : condition) c = random() % 3 == 0 ? 0 : static_cast<uint8_t>(random() % 2 ? 1 : 0x80);
  const GuardedBuffer<T> x = filled<T>(volume(shapes[1]), random), y = filled<T>(volume(shapes[2]), random);
  GuardedBuffer<T> result(static_cast<size_t>(volume(output)));
  WhereArgs args{condition.data(), x.data(), y.data(), result.data(), sizeof(T), broadcast_of(output, shapes)};
  run_tasks(set->elementwise->where, args);
  reference_broadcast(output, shapes, [&](int64_t i, const std::vector<int64_t>& at) {
    const T want = condition[static_cast<size_t>(at[0])] ? x[static_cast<size_t>(at[1])] : y[static_cast<size_t>(at[2])];
    if (result[static_cast<size_t>(i)] == want) return;
    INFO(set->name << " bytes " << sizeof(T) << " element " << i);
    FAIL("not what the reference says");
  });
  REQUIRE(result.intact());
}

}  // namespace

TEST_CASE("selection with every operand broadcast in turn", "[elementwise]") {
  const std::vector<std::vector<Dims>> all = {
      {{77}, {77}, {77}},          {{77}, {1}, {77}},          {{77}, {77}, {}},
      {{77}, {1}, {1}},            {{1}, {77}, {77}},          {{4, 1}, {4, 33}, {33}},
      {{2, 1, 3, 3}, {}, {2, 4, 3, 3}}, {{3, 1, 5}, {4, 1}, {1, 5}}, {{0, 3}, {3}, {1}},
      {{20000}, {20000}, {1}},
  };
  for (const KernelTable* set : available_kernel_sets()) {
    for (const auto& shapes : all) {
      check_where<uint8_t>(set, shapes);
      check_where<int16_t>(set, shapes);
      check_where<int32_t>(set, shapes);
      check_where<int64_t>(set, shapes);
    }
  }
}

TEST_CASE("progressions", "[elementwise]") {
  for (const KernelTable* set : available_kernel_sets()) {
    const int64_t n = kElementwiseTask + 9;
    GuardedBuffer<float> floats(static_cast<size_t>(n));
    GuardedBuffer<int64_t> longs(static_cast<size_t>(n));
    GuardedBuffer<int32_t> ints(static_cast<size_t>(n));
    RangeArgs args;
    args.y = floats.data(), args.n = n, args.start = -1.5, args.delta = 0.1;
    run_tasks(set->elementwise->range, args);
    args.type = ElementType::kI64, args.y = longs.data(), args.integer_start = 10, args.integer_delta = -3;
    run_tasks(set->elementwise->range, args);
    args.type = ElementType::kI32, args.y = ints.data();
    run_tasks(set->elementwise->range, args);
    for (int64_t i = 0; i < n; ++i) {
      const size_t at = static_cast<size_t>(i);
      const volatile double product = static_cast<double>(i) * 0.1;  // rounded: a fused multiply-add would differ
      const bool right = floats[at] == static_cast<float>(-1.5 + product) && longs[at] == 10 - 3 * i && ints[at] == 10 - 3 * i;
      if (!right) FAIL(set->name << " element " << i);
    }
    CHECK((floats.intact() && longs.intact() && ints.intact()));
  }
}

TEST_CASE("loop nests drop dimensions of one and merge neighbours", "[elementwise]") {
  const Broadcast alike = broadcast_of({2, 3, 4, 5}, {{2, 3, 4, 5}, {2, 3, 4, 5}});
  CHECK(alike.rank == 1);
  CHECK(alike.size[0] == 120);
  const Broadcast channel = broadcast_of({2, 3, 4, 5}, {{2, 3, 4, 5}, {3, 1, 1}});
  REQUIRE(channel.rank == 3);
  CHECK(channel.size[2] == 20);
  CHECK(channel.stride[1][0] == 0);
  CHECK(channel.stride[1][1] == 1);
  CHECK(channel.stride[1][2] == 0);
  const Dims ones(12, 1), deep = {2, 2, 2, 2, 2, 2, 2, 2, 2}, comb = {2, 1, 2, 1, 2, 1, 2, 1, 2};
  CHECK(broadcast_of(ones, {ones}).rank == 1);
  const int64_t* operands[] = {deep.data(), comb.data()};
  const int ranks[] = {9, 9};
  Broadcast result;
  CHECK_FALSE(make_broadcast(deep.data(), 9, operands, ranks, 2, &result));
}
