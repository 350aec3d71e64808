#include "runtime/train/deadline.h"

#include <algorithm>

namespace svengine {

void Deadline::step_took(double seconds) { step_ = std::max(step_, seconds); }
void Deadline::save_took(double seconds) { save_ = std::max(save_.value_or(0), seconds); }

bool Deadline::due(double now) const {
  if (!end_) return false;
  const double save = save_ ? 2 * *save_ : std::min(60.0, limit_ / 10);
  return now + std::max(1.0, 2 * step_ + save) >= *end_;
}

}  // namespace svengine
