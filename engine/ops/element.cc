#include "engine/ops/element.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace svengine::ops {
namespace {

template <class T>
T load(const void* data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(data) + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
Tensor scalar_as(DType type, T value) {
  MutableTensor t = Tensor::allocate(type, {}).value();
  std::memcpy(t.raw(), &value, sizeof(T));
  return t;
}

}  // namespace

DType computed_type(DType type) {
  switch (type) {
    case DType::f16: return DType::f32;
    case DType::boolean:
    case DType::u8:
    case DType::i8:
    case DType::u16:
    case DType::i16: return DType::i32;
    case DType::u32: return DType::i64;
    default: return type;
  }
}

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const int exponent = half >> 10 & 31, mantissa = half & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | static_cast<uint32_t>(mantissa) << 13);
  const float magnitude = exponent ? std::ldexp(static_cast<float>(mantissa | 0x400), exponent - 25) : std::ldexp(static_cast<float>(mantissa), -24);
  return sign ? -magnitude : magnitude;
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00u | (bits >> 13 & 0x1ffu));
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) return sign | 0x7c00u;
  if (magnitude < 0x1p-14f) return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24f)));
  int exponent;
  const float fraction = std::frexp(magnitude, &exponent);  // in [1/2, 1)
  const auto mantissa = static_cast<int>(std::nearbyint(fraction * 2048.0f));  // 1024 to 2048; 2048 carries into the exponent
  return static_cast<uint16_t>(sign | static_cast<uint16_t>(((exponent + 13) << 10) + mantissa));
}

double number_at(DType type, const void* data, int64_t i) {
  switch (type) {
    case DType::f32: return load<float>(data, i);
    case DType::f64: return load<double>(data, i);
    case DType::f16: return half_to_float(load<uint16_t>(data, i));
    case DType::bf16: return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(data, i)) << 16);
    case DType::i8: return load<int8_t>(data, i);
    case DType::i16: return load<int16_t>(data, i);
    case DType::i32: return load<int32_t>(data, i);
    case DType::i64: return static_cast<double>(load<int64_t>(data, i));
    case DType::u8: return load<uint8_t>(data, i);
    case DType::u16: return load<uint16_t>(data, i);
    case DType::u32: return load<uint32_t>(data, i);
    case DType::u64: return static_cast<double>(load<uint64_t>(data, i));
    case DType::boolean: return load<uint8_t>(data, i) != 0;
    default: break;
  }
  return 0;
}

Tensor scalar_of(DType type, double value) {
  switch (type) {
    case DType::f64: return scalar_as(type, value);
    case DType::f16: return scalar_as(type, float_to_half(static_cast<float>(value)));
    case DType::bf16: return scalar_as(type, static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16));
    case DType::i8: return scalar_as(type, static_cast<int8_t>(value));
    case DType::i16: return scalar_as(type, static_cast<int16_t>(value));
    case DType::i32: return scalar_as(type, static_cast<int32_t>(value));
    case DType::i64: return scalar_as(type, static_cast<int64_t>(value));
    case DType::u8: return scalar_as(type, static_cast<uint8_t>(value));
    case DType::u16: return scalar_as(type, static_cast<uint16_t>(value));
    case DType::u32: return scalar_as(type, static_cast<uint32_t>(value));
    case DType::u64: return scalar_as(type, static_cast<uint64_t>(value));
    case DType::boolean: return scalar_as(type, static_cast<uint8_t>(value != 0));
    default: return scalar_as(DType::f32, static_cast<float>(value));
  }
}

uint64_t element_bits(const Tensor& tensor) {
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.raw(), size_of(tensor.type()));
  return bits;
}

}  // namespace svengine::ops
