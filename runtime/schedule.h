// Learning rates that change while training.
//
//   constant                                   base
//   step:every=30,factor=0.1                   base * factor^(steps / every)
//   step:at=30;60;80,factor=0.1                base * factor^(marks passed)
//   cosine:epochs=90,final=0                   base * (final + (1 - final) (1 + cos(pi p)) / 2)      arXiv 1608.03983
//   linear:epochs=3,final=0,power=1            base * (final + (1 - final) (1 - p)^power)
//   noam:width=512,warmup_steps=4000           base * width^-1/2 min(n^-1/2, n warmup^-3/2)          arXiv 1706.03762
//
// All but noam take warmup=E,from=F besides: during the first E epochs the rate rises linearly, step n of W (counted from 1)
// having base * (F + (1 - F) n / W), F being 0 unless said; so no step has rate 0. p goes from 0 at the end of the warm-up to
// 1 at the end of `epochs`, which the warm-up is part of, and stays there. In noam n counts steps from 1. Marks of step count
// from the beginning of training.
//
// Durations are in epochs, also fractions of them, or in steps: warmup_steps, steps (for epochs), every_steps, at_steps. They
// are rounded to whole steps.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace svengine {

/// A pure function of the step, so a checkpoint keeps nothing of it but its text. Immutable and thread-safe.
class Schedule {
 public:
  /// The constant schedule.
  Schedule() = default;

  /// From a text as above, without blanks. The error names what is wrong with it and what would be right.
  static Result<Schedule> parse(const std::string& text);

  /// What the base rate is multiplied by in step `step` (the first is 0), with `steps_per_epoch` >= 1.
  double factor(int64_t step, int64_t steps_per_epoch) const;
  double rate(double base, int64_t step, int64_t steps_per_epoch) const { return base * factor(step, steps_per_epoch); }

  /// The text that parse() was given, with everything in it that was left out; equal schedules have equal texts.
  std::string text() const;

 private:
  enum class Kind { constant, step, cosine, linear, noam };
  struct Duration {
    double amount = 0;
    bool in_steps = false;
    double steps(int64_t steps_per_epoch) const;
  };
  friend class ScheduleParser;

  double decay(double step, int64_t steps_per_epoch) const;

  Kind kind_ = Kind::constant;
  Duration warmup_, total_, every_;
  std::vector<Duration> marks_;
  double from_ = 0, final_ = 0, power_ = 1, factor_ = 0.1, width_ = 0;
};

}  // namespace svengine
