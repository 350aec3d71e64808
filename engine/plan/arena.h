// Offsets in one arena from lifetimes.
#pragma once
#include "engine/plan/plan.h"

namespace svengine {

/// Gives every arena slot an offset such that slots alive at the same step do not overlap, and returns the arena's size.
/// Greedy by size (the largest slot first, each at the lowest offset that fits), which on networks is within a few percent of
/// the lower bound, the largest sum of live bytes at any step. O(n^2) in the number of slots.
int64_t assign_arena_offsets(std::vector<Slot>& slots);

/// The first step at which most arena bytes are live.
struct FullestStep {
  int32_t step = 0;
  int64_t bytes = 0;
};
FullestStep fullest_step(const std::vector<Slot>& slots);

/// The largest sum of live bytes at any step: no arena can be smaller.
inline int64_t arena_lower_bound(const std::vector<Slot>& slots) { return fullest_step(slots).bytes; }

}  // namespace svengine
