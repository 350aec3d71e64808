// When a long run has to save and end: because it was told to, or because its time is nearly over.
#pragma once
#include <optional>
#include <string>

#include "engine/base/status.h"

namespace svengine::tool {

/// While one lives, SIGTERM, SIGUSR1 (batch systems' warnings) and SIGINT no longer end the process but are noted; a second SIGINT
/// ends it at once. System calls go on. One at a time; the destructor restores what was there.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// "SIGTERM", .. of the first that came, or null.
  const char* received() const;
};

/// "90" or "90s", "45m", "2h", "1h30m", "1:30:00", "30:00" (minutes:seconds): seconds, above 0 and at most a year.
Result<double> parse_duration(const std::string& text);

/// A limit on the time since it was made. Says early enough that a last step and a checkpoint still fit: the reserve is twice the
/// longest of each so far, and no less than a second; as long as no checkpoint was timed, a tenth of the limit, 60 seconds at most.
class Deadline {
 public:
  /// No limit: never due.
  Deadline() = default;
  /// Times are those of a steady clock in seconds, given by the caller.
  Deadline(double now, double limit) : end_(now + limit), limit_(limit) {}

  void step_took(double seconds);
  void save_took(double seconds);
  /// Whether to save and end now, rather than to take another step.
  bool due(double now) const;

 private:
  std::optional<double> end_, save_;
  double limit_ = 0, step_ = 0;
};

}  // namespace svengine::tool
