// JSON as the program prints it: values in the order in which they were put in.
//
// The nlohmann library writes it, in json.cc alone: its header takes 1.5 s of compiling (g++ 12), and as long again for what is used.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace svengine::tool {

class Json {
 public:
  Json(std::nullptr_t = nullptr) {}
  template <class T>
    requires std::integral<T> || std::floating_point<T>
  Json(T value) {
    if constexpr (std::same_as<T, bool>) scalar_ = value;
    else if constexpr (std::floating_point<T>) scalar_ = static_cast<double>(value);
    else if constexpr (std::signed_integral<T>) scalar_ = static_cast<int64_t>(value);
    else scalar_ = static_cast<uint64_t>(value);
  }
  Json(std::string text) : scalar_(std::move(text)) {}
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(const char* text) : Json(std::string(text)) {}
  template <class T>
  Json(const std::vector<T>& values) : kind_(Kind::array), values_(values.begin(), values.end()) {}
  /// {{"name", value}, ..} is an object, any other list an array.
  Json(std::initializer_list<Json> list);

  static Json array() { return Json(Kind::array); }
  static Json object() { return Json(Kind::object); }

  /// Appends to an array; null becomes one.
  void push_back(Json value);
  Json& back() { return values_.back(); }
  /// The member of that name, null when it was not there; null becomes an object.
  Json& operator[](std::string_view name);
  /// Takes another object's members.
  void update(const Json& other);

  /// Indented; bytes that are not UTF-8 become U+FFFD. NaN and infinity, which JSON has not, become null.
  std::string text() const;

 private:
  friend struct JsonWriter;
  enum class Kind : uint8_t { scalar, array, object };
  explicit Json(Kind kind) : kind_(kind) {}

  Kind kind_ = Kind::scalar;
  std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string> scalar_ = nullptr;
  std::vector<std::string> names_;  // of an object's values
  std::vector<Json> values_;
};

/// Prints it on standard output.
void put_json(const Json& json);

}  // namespace svengine::tool
