// Elements of constants in the text form.
#include "engine/base/narrow_float.h"
#include "engine/graph/text_parts.h"

namespace svengine::text {
namespace {

/// Parses one element and appends its bytes.
template <class T>
bool append(std::string_view token, std::vector<std::byte>& bytes, int base = 10) {
  const std::optional<T> value = number<T>(token, base);
  if (!value) return false;
  const auto* raw = reinterpret_cast<const std::byte*>(&*value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
  return true;
}

/// Is it a byte that this type has in memory?
bool unpacked_is_same(DType type, std::byte byte) {
  const auto bits = static_cast<uint8_t>(byte);
  return unpacked(type, bits) == bits;
}

}  // namespace

bool append_element(DType type, std::string_view token, std::vector<std::byte>& bytes) {
  switch (type) {
    case DType::f32: return append<float>(token, bytes);
    case DType::f64: return append<double>(token, bytes);
    case DType::f16:
    case DType::bf16: return token.starts_with("0x") && append<uint16_t>(token.substr(2), bytes, 16);
    case DType::f8e4m3fn: case DType::f8e4m3fnuz: case DType::f8e5m2: case DType::f8e5m2fnuz: case DType::f8e8m0: case DType::f4e2m1:
      return token.starts_with("0x") && append<uint8_t>(token.substr(2), bytes, 16) && unpacked_is_same(type, bytes.back());
    case DType::u4: case DType::u2: return append<uint8_t>(token, bytes) && unpacked_is_same(type, bytes.back());
    case DType::i4: case DType::i2: return append<int8_t>(token, bytes) && unpacked_is_same(type, bytes.back());
    case DType::i8: return append<int8_t>(token, bytes);
    case DType::boolean: return (token == "0" || token == "1") && append<uint8_t>(token, bytes);
    case DType::u8: return append<uint8_t>(token, bytes);
    case DType::i16: return append<int16_t>(token, bytes);
    case DType::u16: return append<uint16_t>(token, bytes);
    case DType::i32: return append<int32_t>(token, bytes);
    case DType::u32: return append<uint32_t>(token, bytes);
    case DType::i64: return append<int64_t>(token, bytes);
    case DType::u64: return append<uint64_t>(token, bytes);
    default: break;
  }
  return false;
}

}  // namespace svengine::text
