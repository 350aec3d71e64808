// Conversions between all element types against one-number-at-a-time rules.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/kernel_table.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace cast_test {
using svengine::DType;
using namespace svengine::kernels;
using svengine::tests::GuardedBuffer;
using svengine::tests::run_tasks;

namespace {

const DType kTypes[] = {DType::f32, DType::u8,  DType::i8,  DType::u16, DType::i16,
                              DType::i32, DType::i64, DType::boolean, DType::f16, DType::f64,
                              DType::u32, DType::u64, DType::bf16};

int bytes_of(DType type) {
  switch (type) {
    case DType::u8:
    case DType::i8:
    case DType::boolean: return 1;
    case DType::u16:
    case DType::i16:
    case DType::f16:
    case DType::bf16: return 2;
    case DType::f32:
    case DType::i32:
    case DType::u32: return 4;
    default: return 8;
  }
}
bool is_floating(DType type) {
  return type == DType::f32 || type == DType::f64 || type == DType::f16 || type == DType::bf16;
}
bool is_signed(DType type) {
  return type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64;
}

/// What a number of any type is: integers exactly, floats as long double (exact for all of them, 64-bit integers included).
struct Number {
  long double value = 0;
  __int128 integer = 0;
};

/// A small binary float: `exponent_bits` and `fraction_bits`, IEEE 754 rules.
long double decode(uint64_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  const uint64_t fraction = bits & ((uint64_t{1} << fraction_bits) - 1);
  const long double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : sign * std::numeric_limits<long double>::infinity();
  const long double mantissa = static_cast<long double>(fraction) + (exponent ? static_cast<long double>(uint64_t{1} << fraction_bits) : 0);
  return sign * std::ldexp(mantissa, std::max(exponent, 1) - bias - fraction_bits);
}

/// The nearest such float, ties to even, of a number that is not NaN.
uint64_t encode(long double x, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint64_t sign = std::signbit(x) ? uint64_t{1} << (exponent_bits + fraction_bits) : 0;
  const long double size = std::fabs(x);
  const uint64_t infinite = uint64_t((1u << exponent_bits) - 1) << fraction_bits;
  if (std::isinf(size)) return sign | infinite;
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), 1 - bias);
  const long double scaled = std::ldexp(size, fraction_bits - exponent);  // mantissa as an integer and a fraction
  long double whole = std::floor(scaled);
  const long double rest = scaled - whole;
  if (rest > 0.5L || (rest == 0.5L && std::fmod(whole, 2.0L) == 1)) whole += 1;
  // Carries run into the exponent by themselves.
  const long double unit = std::ldexp(1.0L, fraction_bits);
  const uint64_t bits =
      whole < unit ? static_cast<uint64_t>(whole) : static_cast<uint64_t>(whole - unit) + (static_cast<uint64_t>(exponent + bias) << fraction_bits);
  return sign | std::min(bits, infinite);
}

Number read(DType type, const std::byte* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(bytes_of(type)));
  switch (type) {
    case DType::f16: return {decode(bits, 5, 10), 0};
    case DType::bf16: return {decode(bits, 8, 7), 0};
    case DType::f32: return {decode(bits, 8, 23), 0};
    case DType::f64: return {decode(bits, 11, 52), 0};
    case DType::boolean: return {bits ? 1.0L : 0.0L, bits ? 1 : 0};
    default: break;
  }
  const int width = 8 * bytes_of(type);
  const __int128 integer =
      is_signed(type) && bits >> (width - 1) ? static_cast<__int128>(bits) - (static_cast<__int128>(1) << width) : static_cast<__int128>(bits);
  return {static_cast<long double>(integer), integer};
}

/// The bytes of `x`, read as `from`, as `to`.
uint64_t expected(DType from, DType to, const Number& x) {
  switch (to) {
    case DType::boolean: return x.value != 0;  // NaN too
    case DType::f16: return encode(x.value, 5, 10);
    case DType::bf16: return encode(x.value, 8, 7);
    case DType::f32: return encode(x.value, 8, 23);
    case DType::f64: return encode(x.value, 11, 52);
    default: break;
  }
  __int128 integer = x.integer;
  if (is_floating(from)) {
    const bool wide = bytes_of(to) >= 4;
    const bool with_sign = is_signed(to) || !wide;
    const int width = wide ? 8 * bytes_of(to) : 64;
    const __int128 one = 1, low = with_sign ? -(one << (width - 1)) : 0, high = (one << (with_sign ? width - 1 : width)) - 1;
    if (std::isnan(x.value)) integer = 0;
    else if (x.value <= static_cast<long double>(low)) integer = low;
    else if (x.value >= std::ldexp(1.0L, with_sign ? width - 1 : width)) integer = high;
    else integer = static_cast<__int128>(std::trunc(x.value));
  }
  const int width = 8 * bytes_of(to);
  return static_cast<uint64_t>(integer) & (width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1);
}

/// A mantissa that lies halfway between two floats of 8, 11 or 24 bits.
int64_t tie(std::mt19937_64& random) {
  const int bits = random() % 3 == 0 ? 9 : random() % 2 ? 12 : 25;
  return static_cast<int64_t>((uint64_t{1} << (bits - 1)) | (random() % (uint64_t{1} << (bits - 1))) | 1) * (random() % 2 ? 1 : -1);
}

/// Bit patterns of all kinds: random ones, small numbers, neighbours of powers of two, ties of every rounding.
std::vector<std::byte> samples(DType type, int64_t n) {
  std::mt19937_64 random(static_cast<uint64_t>(type));
  std::vector<std::byte> bytes(static_cast<size_t>(n * bytes_of(type)));
  for (int64_t i = 0; i < n; ++i) {
    uint64_t bits = random();
    if (type == DType::boolean) bits = random() % 3;
    else if (!is_floating(type) && i % 3 == 0) bits = static_cast<uint64_t>(static_cast<int64_t>(random() % 600) - 300);
    else if (!is_floating(type) && i % 3 == 1) bits = (uint64_t{1} << random() % 64) + random() % 5 - 2;
    else if (!is_floating(type) && i % 2) bits = (static_cast<uint64_t>(tie(random)) << random() % 56) + random() % 3 - 1;
    else if (type == DType::f64 && i % 3 < 2) {
      const double x = std::ldexp(static_cast<double>(tie(random)), static_cast<int>(random() % 40) - 30);
      std::memcpy(&bits, &x, 8);
      bits += random() % 3 - 1;  // the tie itself, or a little beside it
    } else if (type == DType::f32 && i % 3 < 2) {
      const float x = std::ldexp(static_cast<float>(tie(random)), static_cast<int>(random() % 40) - 30);
      uint32_t word;
      std::memcpy(&word, &x, 4);
      bits = word + random() % 3 - 1;
    }
    std::memcpy(&bytes[static_cast<size_t>(i * bytes_of(type))], &bits, static_cast<size_t>(bytes_of(type)));
  }
  return bytes;
}

bool is_nan_bits(DType type, uint64_t bits) {
  switch (type) {
    case DType::f16: return std::isnan(decode(bits, 5, 10));
    case DType::bf16: return std::isnan(decode(bits, 8, 7));
    case DType::f32: return std::isnan(decode(bits, 8, 23));
    case DType::f64: return std::isnan(decode(bits, 11, 52));
    default: return false;
  }
}

void check_cast(const KernelTable* set, DType from, DType to, int64_t n) {
  const std::vector<std::byte> source = samples(from, n);
  GuardedBuffer<std::byte> x(source.size()), y(static_cast<size_t>(n * bytes_of(to)));
  std::copy(source.begin(), source.end(), x.begin());
  run_tasks(set->elementwise->cast, {from, to, x.data(), y.data(), n});
  for (int64_t i = 0; i < n; ++i) {
    const Number number = read(from, x.data() + i * bytes_of(from));
    uint64_t got = 0;
    std::memcpy(&got, y.data() + i * bytes_of(to), static_cast<size_t>(bytes_of(to)));
    const bool right = from == to ? std::memcmp(x.data() + i * bytes_of(to), y.data() + i * bytes_of(to), static_cast<size_t>(bytes_of(to))) == 0
                       : std::isnan(number.value) && is_floating(to) ? is_nan_bits(to, got)
                                                                     : got == expected(from, to, number);
    if (right) continue;
    INFO(set->name << " from " << static_cast<int>(from) << " to " << static_cast<int>(to) << " value " << static_cast<double>(number.value)
                   << " got " << got);
    FAIL("not what the reference says");
  }
  REQUIRE(y.intact());
}

}  // namespace

TEST_CASE("every type to every type", "[cast]") {
  for (const KernelTable* set : tested_kernel_sets())
    for (const DType from : kTypes)
      for (const DType to : kTypes) check_cast(set, from, to, 617);
}

TEST_CASE("lengths around the vector, and several tasks", "[cast]") {
  for (const KernelTable* set : tested_kernel_sets()) {
    for (int64_t n = 0; n <= 4 * set->lanes + 1; ++n) {
      check_cast(set, DType::f32, DType::f16, n);
      check_cast(set, DType::f16, DType::f32, n);
      check_cast(set, DType::i64, DType::f32, n);
      check_cast(set, DType::f32, DType::boolean, n);
    }
    check_cast(set, DType::boolean, DType::f32, 2 * kElementwiseTask + 3);
    check_cast(set, DType::f16, DType::i64, kElementwiseTask + 3);
  }
}

TEST_CASE("a cast between types of one size works in place", "[cast]") {
  for (const KernelTable* set : tested_kernel_sets()) {
    std::vector<float> x(1001);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 1.25f - 600;
    const std::vector<float> before = x;
    run_tasks(set->elementwise->cast, {DType::f32, DType::i32, x.data(), x.data(), 1001});
    for (size_t i = 0; i < x.size(); ++i) {
      int32_t got;
      std::memcpy(&got, &x[i], 4);
      REQUIRE(got == static_cast<int32_t>(before[i]));
    }
  }
}
}  // namespace cast_test
