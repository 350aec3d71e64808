#include <algorithm>
#include <charconv>

#include "engine/graph/text_parts.h"

namespace svengine::text {

void Cursor::skip_blank() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '#') position_ = std::min(text_.find('\n', position_), text_.size());
    else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') ++position_;
    else break;
  }
  start_ = position_;
}

bool Cursor::at_end() {
  skip_blank();
  return position_ == text_.size();
}

char Cursor::peek() {
  skip_blank();
  return position_ < text_.size() ? text_[position_] : '\0';
}

bool Cursor::take(char c) {
  if (at_end() || text_[position_] != c) return false;
  ++position_;
  return true;
}

bool Cursor::take_word(std::string_view word) {
  skip_blank();
  const std::string_view rest = text_.substr(position_);
  if (!rest.starts_with(word) || (rest.size() > word.size() && is_name_char(rest[word.size()]))) return false;
  position_ += word.size();
  return true;
}

Status Cursor::expect(char c, std::string_view where) {
  if (take(c)) return {};
  return fail(fmt::format("expected '{}' {}", c, where));
}

std::string_view Cursor::run_of(bool (*accept)(char)) {
  skip_blank();
  while (position_ < text_.size() && accept(text_[position_])) ++position_;
  return text_.substr(start_, position_ - start_);
}

Result<std::optional<std::string>> Cursor::quoted() {
  if (!take('"')) return std::optional<std::string>();
  std::string out;
  while (position_ < text_.size() && text_[position_] != '\n') {
    const char c = text_[position_++];
    if (c == '"') return std::optional(std::move(out));
    if (c != '\\') {
      out += c;
      continue;
    }
    const std::string_view rest = text_.substr(position_);
    uint8_t byte = 0;
    if (rest.starts_with('"') || rest.starts_with('\\')) {
      out += rest[0];
      position_ += 1;
    } else if (rest.size() >= 3 && rest[0] == 'x' &&
               std::from_chars(rest.data() + 1, rest.data() + 3, byte, 16).ptr == rest.data() + 3) {
      out += static_cast<char>(byte);
      position_ += 3;
    } else {
      return fail("a string has an escape other than \\\", \\\\ and \\xNN");
    }
  }
  return fail("a string does not end on its line");
}

Error Cursor::fail(std::string_view message) const {
  const std::string_view before = text_.substr(0, start_);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t newline = before.rfind('\n');
  return error("line {}, column {}: {}", line, start_ - (newline == before.npos ? 0 : newline + 1) + 1, message);
}

}  // namespace svengine::text
