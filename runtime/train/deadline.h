// When a run whose time is limited has to save and end.
#pragma once
#include <optional>

namespace svengine {

/// A limit on the time since it was made. Says early enough that a last step and a checkpoint still fit: the reserve is twice the
/// longest of each so far, and no less than a second; as long as no checkpoint was timed, a tenth of the limit, 60 seconds at
/// most.
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

}  // namespace svengine
