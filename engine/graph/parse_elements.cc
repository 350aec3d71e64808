// Elements of constants in the text form.
#include <array>
#include <cstring>

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

/// Integers wrap around.
template <class T>
bool go_on(size_t count, std::vector<std::byte>& bytes) {
  constexpr size_t kMost = size_t{1} << 20;  // a short text is not to need much memory
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  std::array<T, 2> first;
  if (bytes.size() != sizeof first || count > kMost) return false;
  std::memcpy(first.data(), bytes.data(), sizeof first);
  const Sum step = static_cast<Sum>(first[1]) - static_cast<Sum>(first[0]);
  for (size_t i = 2; i < count; ++i) {
    const T value = static_cast<T>(static_cast<Sum>(first[0]) + static_cast<Sum>(i) * step);
    const auto* raw = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  }
  return true;
}

}  // namespace

bool continue_progression(DType type, size_t count, std::vector<std::byte>& bytes) {
  switch (type) {
    case DType::f32: return go_on<float>(count, bytes);
    case DType::f64: return go_on<double>(count, bytes);
    case DType::i8: return go_on<int8_t>(count, bytes);
    case DType::u8: return go_on<uint8_t>(count, bytes);
    case DType::i32: return go_on<int32_t>(count, bytes);
    case DType::i64: return go_on<int64_t>(count, bytes);
    default: return false;
  }
}

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

Result<Attribute> rest_of_list(Cursor& cursor) {
  std::vector<int64_t> integers;
  std::vector<float> reals;
  std::vector<std::string> texts;
  do {
    SV_ASSIGN(std::optional<std::string> quoted, cursor.quoted());
    if (quoted) {
      texts.push_back(std::move(*quoted));
      continue;
    }
    const std::string_view token = cursor.run_of(is_number_char);
    if (const auto integer = number<int64_t>(token)) integers.push_back(*integer);
    else if (const auto real = number<float>(token)) reals.push_back(*real);
    else return cursor.fail(fmt::format("'{}' is no number", token));
  } while (cursor.take(','));
  SV_TRY(cursor.expect(']', "after the list"));
  if (int{integers.empty()} + int{reals.empty()} + int{texts.empty()} != 2)
    return cursor.fail("a list is of one kind of element");
  if (!integers.empty()) return Attribute(std::move(integers));
  if (!reals.empty()) return Attribute(std::move(reals));
  return Attribute(std::move(texts));
}

}  // namespace svengine::text
