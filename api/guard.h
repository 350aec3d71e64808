// No exception crosses the API: what the standard library throws becomes a message.
#pragma once
#include <exception>
#include <new>
#include <string>

#include "engine/base/status.h"

namespace svengine {

inline const std::string kOutOfMemory = "out of memory";  // short enough to need no allocation

/// What a caught exception says. Never throws: where memory for more is out, it is "out of memory".
inline std::string message_of_caught() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (const std::exception& thrown) {
    try {
      return std::string("unexpected failure: ") + thrown.what();
    } catch (...) {
      return kOutOfMemory;
    }
  } catch (...) {
    return "failure";  // of a caller's own type
  }
}

/// What the last call that failed leaves behind; empty when none has.
struct LastError {
  std::string message;
  bool unimplemented = false;  // what it was asked for may be right: a limit of this engine

  void keep(const Error& error) {
    message = error.message();
    unimplemented = error.is_limit();
  }
  /// In a handler.
  void keep_caught() noexcept {
    message = message_of_caught();
    unimplemented = false;
  }
};

/// f(); an exception's message goes to `problem`, and `failed` comes back.
template <class T, class F>
T guarded(LastError& problem, T failed, const F& f) noexcept {
  try {
    return f();
  } catch (...) {
    problem.keep_caught();
  }
  return failed;
}

}  // namespace svengine
