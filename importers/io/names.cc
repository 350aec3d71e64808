#include "importers/io/names.h"

#include <cstdint>

namespace svengine {
namespace {

/// Bytes of the character at the front of `text`; 0 when it is not one to print: malformed UTF-8 or a control character.
size_t printable_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0u; };
  const uint32_t first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  uint32_t code = first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  static constexpr uint32_t kSmallest[] = {0, 0, 0xa0, 0x800, 0x10000};  // 0x80..0x9f are control characters too
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return first >= 0xc2 && first < 0xf5 && code >= kSmallest[length] && code <= 0x10ffff && !surrogate ? length : 0;
}

}  // namespace

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= limit) return out + "...";
    if (const size_t n = printable_length(text)) {
      out += text.substr(0, n);
      text.remove_prefix(n);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
      text.remove_prefix(1);
    }
  }
  return out;
}

Status check_name(std::string_view what, std::string_view name) {
  if (name.size() > kMaxName)
    return unimplemented("the name of a {} is {} bytes long, at most {} are allowed", what, name.size(), kMaxName);
  for (std::string_view rest = name; !rest.empty();) {
    const size_t n = printable_length(rest);
    if (n == 0) return error("the name of {} '{}' has control characters or is not UTF-8", what, printable(name));
    rest.remove_prefix(n);
  }
  return {};
}

}  // namespace svengine
