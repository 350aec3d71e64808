// C as text: types, constants, identifiers, and lines with their indentation.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/dtype_set.h"

namespace svengine::tool::emit {

/// Element types that a C type holds.
inline constexpr DTypeSet kCTypes{DType::f32, DType::f64, DType::i8,  DType::i16, DType::i32,    DType::i64,
                                  DType::u8,  DType::u16, DType::u32, DType::u64, DType::boolean};
inline constexpr DTypeSet kRealTypes{DType::f32, DType::f64};
inline constexpr DTypeSet kIndexTypes{DType::i32, DType::i64};
inline constexpr DTypeSet kNumberTypes = kRealTypes | kIndexTypes;

/// "float", "int64_t"; a bool is a byte, uint8_t.
std::string_view c_type(DType type);

/// A constant expression that is exactly this element: "0x1.8p+1f", "-3", "INFINITY".
std::string c_element(DType type, const void* elements, int64_t i);
/// A number as one of that type, rounded to it.
std::string c_number(double value, DType type);

/// The name with every character that no identifier has made "_"; no keyword of C or C++ and no name that C keeps for itself.
std::string c_identifier(std::string_view name);

/// What may stand in a comment: no end of comment, no control characters, ASCII.
std::string c_comment(std::string_view text);

/// Names of one scope.
class Identifiers {
 public:
  explicit Identifiers(std::set<std::string> taken) : taken_(std::move(taken)) {}
  /// A valid identifier like the name that no one else has.
  std::string unique(std::string_view name);

 private:
  std::set<std::string> taken_;
};

/// Lines of C, indented by how many blocks are open.
class Code {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    add(fmt::format(format, std::forward<Args>(args)...));
  }
  /// "format {", until close().
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    add(fmt::format(format, std::forward<Args>(args)...) + " {");
    ++depth_;
  }
  /// for (ptrdiff_t name = 0; name < count; ++name), until close().
  void loop(std::string_view name, int64_t count) { open("for (ptrdiff_t {0} = 0; {0} < {1}; ++{0})", name, count); }
  void close(int blocks = 1);

  const std::string& text() const { return text_; }

 private:
  void add(const std::string& line);

  std::string text_;
  int depth_ = 1;  // of a function's body
};

}  // namespace svengine::tool::emit
