// CLI11, and how this program uses it.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace svengine::tool {

/// Breaks long descriptions into lines.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override { return wrap(option->get_description()); }

 private:
  static std::string wrap(const std::string& text) {
    constexpr size_t kColumns = 88;
    std::string out;
    size_t column = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(' ', begin), text.size());
      if (column > 0 && column + end - begin >= kColumns) out += '\n', column = 0;
      else if (column > 0) out += ' ', ++column;
      out.append(text, begin, end - begin);
      column += end - begin;
      begin = end + 1;
    }
    return out;
  }
};

/// A range whose limits are in errors but not in every line of the help.
template <class T>
CLI::Validator within(T low, T high) {
  return CLI::Range(low, high).description("");
}

inline CLI::Validator not_negative() { return within(0.0, 1e300); }

}  // namespace svengine::tool
