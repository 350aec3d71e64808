#include "tools/support/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "importers/io/names.h"

namespace svengine::tool {
namespace {

int output_problem = 0;  // errno of the first write that failed

/// Characters, not bytes: the columns of names in UTF-8.
size_t width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

void to_stderr(std::string_view prefix, std::string_view message) {
  constexpr size_t kMostMessage = 1 << 16;
  std::string text(prefix);
  for (size_t begin = 0;;) {  // newlines are ours, lists of unsupported operators have them
    const size_t end = std::min(message.find('\n', begin), message.size());
    text += printable(message.substr(begin, end - begin), kMostMessage) + '\n';
    if (end == message.size()) break;
    begin = end + 1;
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void put(std::string_view text) {
  if (!output_problem && std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) output_problem = errno;
}

Status finish_output() {
  if (std::fflush(stdout) != 0 && !output_problem) output_problem = errno;
  if (output_problem == 0 || output_problem == EPIPE) return {};
  return error("standard output: {}", std::strerror(output_problem));
}

void print_error(std::string_view message) { to_stderr("svengine: ", message); }
void print_hint(std::string_view message) { to_stderr("svengine: ", message); }

Table::Table(std::vector<std::string> titles, std::vector<Align> align) : align_(std::move(align)) {
  if (!titles.empty()) rows_.push_back(std::move(titles));
}

std::string Table::text(std::string_view indent) const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent);
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - width(row[i]), ' ');
      const bool right = i < align_.size() && align_[i] == Align::right;
      line += (i ? "  " : "") + (right ? blanks + row[i] : row[i] + blanks);
    }
    const size_t end = line.find_last_not_of(' ');
    out += line.substr(0, end == line.npos ? 0 : end + 1) + '\n';
  }
  return out;
}

std::string grouped(int64_t value) {
  std::string out = std::to_string(value);
  for (int64_t i = static_cast<int64_t>(out.size()) - 3; i > (value < 0 ? 1 : 0); i -= 3) out.insert(static_cast<size_t>(i), ",");
  return out;
}

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string scaled(double value) {
  static constexpr const char* kUnits[] = {"", " K", " M", " G", " T", " P"};
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  if (unit == 0) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, kUnits[unit]);
}

}  // namespace svengine::tool
