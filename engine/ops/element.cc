#include "engine/ops/element.h"

#include <cstring>
#include <memory>
#include <utility>

#include "engine/base/limits.h"
#include "engine/base/whole.h"

namespace svengine::ops {
namespace {

template <class T>
Tensor scalar_as(DType type, T value) {
  std::shared_ptr<std::byte> memory = allocate_beyond_limit(sizeof(T));
  std::byte* const data = memory.get();
  std::memcpy(data, &value, sizeof(T));
  return Tensor::wrap(type, {}, data, std::move(memory));
}

}  // namespace

DType computed_type(DType type) {
  switch (type) {
    case DType::f16: return DType::f32;
    case DType::u4: case DType::i4: case DType::u2: case DType::i2:
    case DType::boolean:
    case DType::u8:
    case DType::i8:
    case DType::u16:
    case DType::i16: return DType::i32;
    case DType::u32: return DType::i64;
    default: return type;
  }
}

Tensor scalar_of(DType type, double value) {
  if (is_byte_float(type)) return scalar_as(type, to_byte_float(type, value));
  switch (type) {
    case DType::f64: return scalar_as(type, value);
    case DType::f16: return scalar_as(type, float_to_half(static_cast<float>(value)));
    case DType::bf16: return scalar_as(type, float_to_bfloat(static_cast<float>(value)));
    case DType::i4: case DType::u4: case DType::i2: case DType::u2:
      return scalar_as(type, unpacked(type, static_cast<uint8_t>(whole_within_limits<int64_t>(value))));
    case DType::i8: return scalar_as(type, whole_within_limits<int8_t>(value));
    case DType::i16: return scalar_as(type, whole_within_limits<int16_t>(value));
    case DType::i32: return scalar_as(type, whole_within_limits<int32_t>(value));
    case DType::i64: return scalar_as(type, whole_within_limits<int64_t>(value));
    case DType::u8: return scalar_as(type, whole_within_limits<uint8_t>(value));
    case DType::u16: return scalar_as(type, whole_within_limits<uint16_t>(value));
    case DType::u32: return scalar_as(type, whole_within_limits<uint32_t>(value));
    case DType::u64: return scalar_as(type, whole_within_limits<uint64_t>(value));
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
