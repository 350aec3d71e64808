// What the printer and the parser of the text form agree on, and the parser's cursor. Internal to text.h's two halves.
#pragma once
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/status.h"
#include "engine/graph/attribute.h"

namespace svengine::text {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_identifier_start(char c) { return is_letter(c) || c == '_'; }
inline bool is_identifier_char(char c) { return is_identifier_start(c) || is_digit(c) || c == '.'; }
inline bool is_number_char(char c) { return is_identifier_char(c) || c == '+' || c == '-'; }
/// May stand in a value's name without quotes.
inline bool is_name_char(char c) { return is_identifier_char(c) || c == '/' || c == '-'; }

/// All of the token as a number, or nothing.
template <class T>
std::optional<T> number(std::string_view token, int base = 10) {
  T value{};
  std::from_chars_result result;
  if constexpr (std::is_floating_point_v<T>) result = std::from_chars(token.data(), token.data() + token.size(), value);
  else result = std::from_chars(token.data(), token.data() + token.size(), value, base);
  if (token.empty() || result.ec != std::errc() || result.ptr != token.data() + token.size()) return std::nullopt;
  return value;
}

/// Appends one element of a constant as it is in memory; false where the token is none of that type.
bool append_element(DType type, std::string_view token, std::vector<std::byte>& bytes);

/// The elements so far, two of a number type, go on by their difference until there are `count`; false where that cannot be, or is more than a
/// million.
bool continue_progression(DType type, size_t count, std::vector<std::byte>& bytes);

/// A cursor over the text. Methods that look for something skip blanks and comments first, newlines included: the order of
/// the parts is what separates them.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool at_end();
  /// The next character is this one: takes it.
  bool take(char c);
  bool take_word(std::string_view word);
  char peek();
  Status expect(char c, std::string_view where);
  /// Characters for which `accept` holds; empty when there is none.
  std::string_view run_of(bool (*accept)(char));
  /// "..." with \" \\ \xNN; nothing when the next character is no quote.
  Result<std::optional<std::string>> quoted();
  /// "line 3, column 7: message" at the start of the last thing looked at.
  Error fail(std::string_view message) const;

 private:
  void skip_blank();

  std::string_view text_;
  size_t position_ = 0;
  size_t start_ = 0;  // of the last thing looked at
};

/// Behind the bracket of a list that is not empty. The first element decides its kind.
Result<Attribute> rest_of_list(Cursor& cursor);

}  // namespace svengine::text
