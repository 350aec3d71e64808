#include "engine/base/number_at.h"

#include <cstddef>
#include <cstring>
#include <limits>

#include "engine/base/narrow_float.h"

namespace svengine {
namespace {

template <class T>
T value_at(const void* data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(data) + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

}  // namespace

double number_at(DType type, const void* data, int64_t i) {
  if (is_byte_float(type)) return byte_float_values(type)[value_at<uint8_t>(data, i)];
  switch (type) {
    case DType::f32: return value_at<float>(data, i);
    case DType::f64: return value_at<double>(data, i);
    case DType::f16: return half_to_float(value_at<uint16_t>(data, i));
    case DType::bf16: return bfloat_to_float(value_at<uint16_t>(data, i));
    case DType::i8: case DType::i4: case DType::i2: return value_at<int8_t>(data, i);
    case DType::i16: return value_at<int16_t>(data, i);
    case DType::i32: return value_at<int32_t>(data, i);
    case DType::i64: return static_cast<double>(value_at<int64_t>(data, i));
    case DType::u8: case DType::u4: case DType::u2: return value_at<uint8_t>(data, i);
    case DType::u16: return value_at<uint16_t>(data, i);
    case DType::u32: return value_at<uint32_t>(data, i);
    case DType::u64: return static_cast<double>(value_at<uint64_t>(data, i));
    case DType::boolean: return value_at<uint8_t>(data, i) != 0;
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace svengine
