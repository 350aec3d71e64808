// What the program prints: answers on standard output, errors and progress on standard error.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/status.h"

namespace svengine::tool {

/// Writes to standard output. Failures show up in finish_output().
void put(std::string_view text);
template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  put(fmt::format(format, std::forward<Args>(args)...));
}
/// Flushes standard output. A reader that has gone away is no failure; a full disk is one.
Status finish_output();

/// "svengine: message" on standard error, control characters made harmless.
void print_error(std::string_view message);
/// The same for what is no error but good to know.
void print_hint(std::string_view message);

/// Columns aligned with spaces: texts to the left, numbers to the right.
class Table {
 public:
  enum class Align { left, right };
  /// An empty list of titles: no header line. Columns beyond `align` are to the left.
  Table(std::vector<std::string> titles, std::vector<Align> align);
  /// Name and value lines, without a header.
  Table() : Table({}, {}) {}

  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Lines that end without blanks, each with `indent` in front.
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<Align> align_;
};

/// "12,345,678".
std::string grouped(int64_t value);
/// "98 B", "1.4 KiB", "97.5 MiB".
std::string bytes_text(double bytes);
/// "8.21 G", "117 M": decimal thousands, three digits.
std::string scaled(double value);

}  // namespace svengine::tool
