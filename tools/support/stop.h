// What ends a long run: signals, and a time that a person has set.
#pragma once
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

}  // namespace svengine::tool
