// What the printer and the parser of the text form agree on, and the parser's cursor. Internal to text.h's two halves.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/status.h"

namespace svengine::text {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_identifier_start(char c) { return is_letter(c) || c == '_'; }
inline bool is_identifier_char(char c) { return is_identifier_start(c) || is_digit(c) || c == '.'; }
/// May stand in a value's name without quotes.
inline bool is_name_char(char c) { return is_identifier_char(c) || c == '/' || c == '-'; }

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

}  // namespace svengine::text
