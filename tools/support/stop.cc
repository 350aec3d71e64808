#include "tools/support/stop.h"

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <optional>
#include <string_view>
#include <vector>

namespace svengine::tool {
namespace {

constexpr std::array<int, 3> kSignals{SIGTERM, SIGUSR1, SIGINT};

std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
std::array<struct sigaction, kSignals.size()> before;

/// Only what a handler may do.
void note(int signal) {
  int none = 0;
  if (first_signal.compare_exchange_strong(none, signal) || signal != SIGINT) return;
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
}

bool parse_number(std::string_view text, double& out) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out, std::chars_format::fixed);
  return problem == std::errc() && end == text.data() + text.size() && out >= 0;
}

/// "1:30:00" and "30:00".
std::optional<double> parse_clock(std::string_view text) {
  double total = 0;
  for (int parts = 1;; ++parts) {
    const size_t stop = text.find(':');
    double part = 0;
    if (parts > 3 || !parse_number(text.substr(0, stop), part) || (parts > 1 && part >= 60)) return std::nullopt;
    total = total * 60 + part;
    if (stop == std::string_view::npos) return total;
    text.remove_prefix(stop + 1);
  }
}

/// "1h30m": units falling, each once; a number alone is seconds.
std::optional<double> parse_units(std::string_view text) {
  double total = 0;
  for (const auto& [unit, seconds] : {std::pair('h', 3600.0), std::pair('m', 60.0), std::pair('s', 1.0)}) {
    const size_t stop = text.find(unit);
    if (stop == std::string_view::npos) continue;
    double amount = 0;
    if (!parse_number(text.substr(0, stop), amount)) return std::nullopt;
    total += amount * seconds;
    text.remove_prefix(stop + 1);
    if (text.empty()) return total;
  }
  return std::nullopt;
}

}  // namespace

StopSignals::StopSignals() {
  first_signal = 0;
  struct sigaction action{};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before[i]);
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
}

const char* StopSignals::received() const {
  switch (first_signal) {
    case SIGTERM: return "SIGTERM";
    case SIGUSR1: return "SIGUSR1";
    case SIGINT: return "SIGINT";
    default: return nullptr;
  }
}

Result<double> parse_duration(const std::string& text) {
  constexpr double kYear = 366.0 * 24 * 3600;
  const bool bare = text.find_first_not_of("0123456789.") == std::string::npos;
  const std::optional<double> seconds = bare || text.find(':') != std::string::npos ? parse_clock(text) : parse_units(text);
  if (!seconds) return error("'{}' is no duration; durations are 90, 90s, 45m, 2h, 1h30m or 1:30:00", text.substr(0, 40));
  if (!(*seconds > 0 && *seconds <= kYear)) return error("a duration of '{}' is not above 0 and at most a year", text.substr(0, 40));
  return *seconds;
}

}  // namespace svengine::tool
