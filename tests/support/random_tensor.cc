#include "tests/support/random_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/base/whole.h"

namespace svengine::tests {
namespace {

/// splitmix64 (Steele, Lea and Flood, 2014): one multiplication chain per counter, so values do not depend on order.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// IEEE binary16 from a double, cut off to 10 bits; enough for random values of ordinary size.
struct Half {
  uint16_t bits;
  explicit Half(double value) : bits(0) {
    int exponent;
    const double fraction = std::frexp(std::abs(value), &exponent);  // value = fraction * 2^exponent, fraction in [0.5, 1)
    if (exponent > -14 && exponent <= 16)
      bits = static_cast<uint16_t>((exponent + 14) << 10 | (static_cast<int>(fraction * 2048) & 1023));
    if (value < 0) bits |= 0x8000;
  }
};

/// bfloat16 from a double, cut off to 7 bits.
struct Brain {
  uint16_t bits;
  explicit Brain(double value) : bits(static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16)) {}
};

template <class T>
void fill(MutableTensor& t, uint64_t seed, double low, double high) {
  auto* out = reinterpret_cast<T*>(t.raw());
  for (int64_t i = 0; i < t.count(); ++i) {
    const double unit = static_cast<double>(mix(seed * 0x10001 + static_cast<uint64_t>(i)) >> 11) * 0x1p-53;
    const double value = low + unit * (high - low);
    if constexpr (std::is_integral_v<T>)
      out[i] = whole_within_limits<T>(value);
    else
      out[i] = static_cast<T>(value);
  }
}

}  // namespace

MutableTensor random_tensor_of(DType type, Dims dims, uint64_t seed, double low, double high) {
  MutableTensor t = Tensor::allocate(type, std::move(dims)).value();
  switch (type) {
    case DType::f32: fill<float>(t, seed, low, high); break;
    case DType::f64: fill<double>(t, seed, low, high); break;
    case DType::f16: fill<Half>(t, seed, low, high); break;
    case DType::bf16: fill<Brain>(t, seed, low, high); break;
    case DType::i8: fill<int8_t>(t, seed, low, high); break;
    case DType::u8: fill<uint8_t>(t, seed, std::max(low, 0.0), high); break;
    case DType::i16: fill<int16_t>(t, seed, low, high); break;
    case DType::u16: fill<uint16_t>(t, seed, std::max(low, 0.0), high); break;
    case DType::i32: fill<int32_t>(t, seed, low, high); break;
    case DType::u32: fill<uint32_t>(t, seed, std::max(low, 0.0), high); break;
    case DType::i64: fill<int64_t>(t, seed, low, high); break;
    case DType::u64: fill<uint64_t>(t, seed, std::max(low, 0.0), high); break;
    default:
      fill<uint8_t>(t, seed, 0, 2);
      break;
  }
  return t;
}

Tensor random_tensor(Dims dims, uint64_t seed, double low, double high) {
  return random_tensor_of(DType::f32, std::move(dims), seed, low, high);
}

}  // namespace svengine::tests
