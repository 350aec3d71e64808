// Errors as values, with a chain of context.
//
// Whatever comes from outside (files, shapes, options) fails with an Error: one sentence that says what is wrong and what
// would be right, and the chain of what was being done, outermost first:
//
//     model.onnx: node 'conv1' (Conv): group 3 does not divide the 64 input channels
//
// The library never prints, never aborts and throws nothing of its own.
#pragma once
#include <fmt/format.h>

#include <cassert>
#include <concepts>
#include <string>
#include <utility>
#include <variant>

namespace svengine {

/// Whose fault an Error is.
enum class ErrorCode : unsigned char {
  invalid_argument,  ///< what came from outside is wrong
  unimplemented,     ///< it may be right: a limit of this engine
  needs_constant,    ///< it may be right: an operand has to be known before the network runs, and is not (yet)
};

class [[nodiscard]] Error {
 public:
  explicit Error(std::string message, ErrorCode code = ErrorCode::invalid_argument) : message_(std::move(message)), code_(code) {}

  /// Puts "context: " in front of what is already there.
  Error&& in(std::string_view context) && {
    message_ = fmt::format("{}: {}", context, message_);
    return std::move(*this);
  }
  const std::string& message() const { return message_; }
  ErrorCode code() const { return code_; }
  /// What was refused may be right: a limit of this engine.
  bool is_limit() const { return code_ != ErrorCode::invalid_argument; }

 private:
  std::string message_;
  ErrorCode code_;
};

template <class... Args>
Error error(fmt::format_string<Args...> format, Args&&... args) {
  return Error(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
Error unimplemented(fmt::format_string<Args...> format, Args&&... args) {
  return Error(fmt::format(format, std::forward<Args>(args)...), ErrorCode::unimplemented);
}

template <class... Args>
Error needs_constant(fmt::format_string<Args...> format, Args&&... args) {
  return Error(fmt::format(format, std::forward<Args>(args)...), ErrorCode::needs_constant);
}

/// A value or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}
  /// Of a Result of what derives from T.
  template <class Derived>
    requires std::derived_from<Derived, T> && (!std::same_as<Derived, T>)
  Result(Result<Derived> other)
      : Result(other.ok() ? Result(T(std::move(other).value())) : Result(std::move(other).error())) {}

  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return *std::get_if<0>(&content_); }
  const T& value() const& { return *std::get_if<0>(&content_); }
  T&& value() && { return std::move(*std::get_if<0>(&content_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const& { return *std::get_if<1>(&content_); }
  Error&& error() && { return std::move(*std::get_if<1>(&content_)); }

 private:
  std::variant<T, Error> content_;
};

/// Success or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  bool ok() const { return error_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const svengine::Error& error() const& { return *std::get_if<1>(&error_); }
  svengine::Error&& error() && { return std::move(*std::get_if<1>(&error_)); }

 private:
  std::variant<std::monostate, svengine::Error> error_;
};

}  // namespace svengine

#define SV_CONCAT_(a, b) a##b
#define SV_CONCAT(a, b) SV_CONCAT_(a, b)

/// Returns the error of a Status or Result from the calling function, if it is one.
#define SV_TRY(expression)                                                \
  do {                                                                    \
    if (auto sv_status = (expression); !sv_status.ok()) return std::move(sv_status).error(); \
  } while (false)

/// SV_ASSIGN(auto x, f()): x is the value of the Result, or the calling function returns its error.
#define SV_ASSIGN(target, expression) SV_ASSIGN_(SV_CONCAT(sv_result_, __COUNTER__), target, expression)
#define SV_ASSIGN_(result, target, expression)         \
  auto result = (expression);                          \
  if (!result.ok()) return std::move(result).error();  \
  target = std::move(result).value()
