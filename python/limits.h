// Limits on memory and time for what Python runs (engine/base/limits.h).
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>

#include "engine/base/status.h"

namespace svengine::python {

struct Limits {
  std::optional<int64_t> memory;  // bytes beyond what is in use when it begins; none: no limit
  std::optional<double> seconds;

  Status check() const;
  /// These where given, else the others.
  Limits or_else(const Limits& others) const;
};

/// Holds them while it lives. They are the process's, so what has limits waits for what else has some, and runs of other sessions meanwhile
/// count, and are refused, too. Made without the interpreter's lock.
class LimitGuard {
 public:
  explicit LimitGuard(const Limits& limits);
  ~LimitGuard();
  LimitGuard(const LimitGuard&) = delete;
  LimitGuard& operator=(const LimitGuard&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;  // none without limits
};

}  // namespace svengine::python
